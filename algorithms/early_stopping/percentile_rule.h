#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Rules that compare the best value of a trial so far with the running averages of the finished trials at the same step. See
// README.md.
//
// NewPercentileRule makes a rule that lets a share of the trials go on. NewMedianRule makes the median rule (Golovin et al.,
// 2017, section 3.4.2), which is the same with the best half. Both wait for a share of the usual length.
//
// Options:
//   percentile  25   of "percentile" only: percentage of the finished trials that the trial must keep up with; 0 to 100
//   min_trials  5    number of finished trials with a value at or before the step that the rule needs; 1 or more
//   min_steps   1    number of reports of the running trial before it is first judged; 1 or more
//   warm_up     0.1  the same as a share of the usual number of reports of trials that ended by themselves; 0 to 1. If
//                    no trial did, none is judged
//   interval    1    number of reports between judgements; in between, the last judgement stands; 1 or more
//   patience    0    number of last reports that must all be no better than the best before them; 0: any
// NaN is excluded from averages and best values; a trial that has reported only NaN is worse than any threshold.
// Numbers of a verdict: "step", "curves", "threshold" ("median" of the median rule), and if it exists "best".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewPercentileRule(Goal goal, const Choice& choice);
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewMedianRule(Goal goal, const Choice& choice);

}  // namespace vernier
