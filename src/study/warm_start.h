#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "src/study/study_state.h"
#include "vernier/trial_log.h"

namespace vernier::study {

// What a new study takes over of an earlier one: its completed trials, the latest kMostTaken that fit the new study. A trial
// fits if its point is legal in the new space, parameters that the earlier study lacked being given their defaults and
// those that the new one lacks left out, and if it reported every objective. Trials that were stopped early are left out:
// what they would have come to is not known.
// InvalidArgument: none fits, or an objective has the opposite goal there; one sentence, without a path.
absl::StatusOr<EarlierStudy> TakeOver(const StudyFold& earlier, const StudySpec& spec);

inline constexpr std::size_t kMostTaken = 1000;

}  // namespace vernier::study
