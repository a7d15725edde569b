#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/outcome_constraint.h"
#include "src/study/study_state.h"
#include "vernier/optimizer.h"
#include "vernier/trial_log.h"

namespace vernier::study {

// Number of completed trials that a study takes over from an earlier one, and of further points that count as tried: the
// latest.
inline constexpr std::size_t kMostTaken = 1000;
inline constexpr std::size_t kMostTried = 10000;

// Whether the study is a job that resumes another (resumePreviousJobId): it goes on with that job's trial numbers, and also
// starts if no trial of it completed.
bool ResumesJob(const StudySpec& spec);

// Gathers the first event of a study from the earlier studies that it names.
//
// Of each it takes the completed trials, the latest kMostTaken that fit the new study. A trial fits if its point is legal in
// the new space, parameters that the earlier study lacked being given their defaults and those that the new one lacks left out,
// and if it reported every objective. Trials that were stopped early are left out, since their final value is unknown; their
// points, and those of trials that failed or have not ended, count as tried. What an earlier study started from itself is
// taken over as well, each trial once, kMaxEarlierStudies studies in all, those named first. The sequence of the first study
// that has the same space and algorithm goes on.
class Inheritance {
 public:
  // InvalidArgument: an outcome constraint cannot be parsed.
  static absl::StatusOr<Inheritance> Create(const StudySpec& spec);

  // The next study that the new one names. `optimizer`: of the earlier study; null if there is none.
  // InvalidArgument: none of its trials fits, an objective has the opposite goal there, or a job resumes it that has not
  // ended; one sentence, without a path.
  absl::Status Add(const StudyFold& earlier, const Optimizer* optimizer);

  StudyCreated Take() &&;

 private:
  Inheritance(const StudySpec& spec, std::vector<OutcomeConstraint> constraints)
      : created_{.spec = spec}, constraints_(std::move(constraints)) {}

  absl::Status AddTrials(const StudyFold& earlier);
  void AddDistant(const EarlierStudy& distant, const StudySpec& between);
  void GoOn(const StudyFold& earlier, const Optimizer* optimizer);

  StudyCreated created_;
  std::vector<OutcomeConstraint> constraints_;
  std::vector<EarlierStudy> distant_;  // What named studies started from.
};

}  // namespace vernier::study
