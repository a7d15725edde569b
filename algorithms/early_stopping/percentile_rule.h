#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Makes the percentile rule: the median rule with another share of trials that go on, which waits for a share of the
// usual length and for a trial that still improves. See README.md.
//
// Options:
//   percentile  25   percentage of the finished trials that the trial must keep up with; 0 to 100
//   min_trials  5    number of finished trials with a value at or before the step that the rule needs; 1 or more
//   min_steps   1    number of reports of the running trial before it is first judged; 1 or more
//   warm_up     0.1  the same as a share of the usual number of reports of trials that ended by themselves; 0 to 1. If
//                    no trial did, none is judged
//   interval    1    number of reports between judgements; in between, the last judgement stands; 1 or more
//   patience    0    number of last reports that must all be no better than the best before them; 0: any
// Numbers of a verdict: "step", "curves", "threshold", and if it exists "best".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewPercentileRule(Goal goal, const Choice& choice);

}  // namespace vernier
