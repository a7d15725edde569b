#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// The median rule (Golovin et al., 2017): a trial stops at step s if its best value so far is strictly worse than the
// median, over the finished trials, of the running averages of their values up to s. See README.md.
//
// Options (whole numbers):
//   min_trials  5  finished trials with a value at or before s, below which nothing is stopped; 1 or more
//   min_steps   1  reports of the running trial before it is judged for the first time; 1 or more
//   interval    1  judged at every so many reports from then on; in between, the last judgement stands; 1 or more
// NaN: left out of averages and best values; a trial that has reported nothing else is worse than any median.
// Numbers of a verdict: "step", "curves", and where they exist "best" and "median".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewMedianRule(Goal goal, const Choice& choice);

}  // namespace vernier
