#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Makes the median rule (Golovin et al., 2017, section 3.4.2): a trial stops at step s if its best value so far is
// strictly worse than the median, over the finished trials, of the running averages of their values up to s. See
// README.md.
//
// Options (whole numbers):
//   min_trials  5  number of finished trials with a value at or before s that the rule needs; 1 or more
//   min_steps   1  number of reports of the running trial before it is first judged; 1 or more
//   interval    1  number of reports between judgements; in between, the last judgement stands; 1 or more
// NaN is excluded from averages and best values; a trial that has reported only NaN is worse than any median.
// Numbers of a verdict: "step", "curves", and if they exist "best" and "median".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewMedianRule(Goal goal, const Choice& choice);

}  // namespace vernier
