#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Makes the decay rule: extrapolates the running trial's curve, and stops the trial if it is unlikely to end better than
// the best complete trial. See README.md.
//
// Options:
//   p           0.05  probability of ending better than the best below which a trial is stopped; above 0, at most 1
//   tolerance   0     amount by which it must end better, in the units of the metric; 0 or more
//   min_trials  4     number of complete trials that the rule needs; 1 or more
//   min_steps   2     number of reports of the running trial before it is first judged; 1 or more
//   warm_up     0.05  the same as a share of the usual number of reports of complete trials; 0 to 1
//   interval    1     number of reports between judgements; in between, the last judgement stands; 1 or more
// A trial is complete if it ended by itself with a finite value after two reports or more.
// Numbers of a verdict: "step", "curves" (complete trials) and, if they exist, "best", "expected_end",
// "expected_end_deviation", "probability".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewDecayRule(Goal goal, const Choice& choice);

}  // namespace vernier
