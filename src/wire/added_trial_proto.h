#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "vernier/trials.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::wire {

// A trial to add, in both directions. Metadata that are protobuf messages have no form here and are left out.
void EncodeAddedTrial(const TrialAddition& addition, v1::AddedTrial* out);
// InvalidArgument: a FieldError below `path`: a value without a kind, too many metrics, an unknown failure class.
absl::StatusOr<TrialAddition> DecodeAddedTrial(const std::string& path,
                                               const v1::AddedTrial& proto);

}  // namespace vernier::wire
