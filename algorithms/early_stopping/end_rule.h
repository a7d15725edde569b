#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Rules that predict how the running trial will end, and stop it if it is unlikely to end better than the best complete
// trial. See README.md.
//
// NewDecayRule extrapolates the trial's own curve by the shapes that curves have. NewRegressionRule learns from all curves
// how much is still to come, by the trial's parameters and by what it has reported.
//
// NewAutomaticRule is the rule that does best where we measured (docs/benchmarks.md): at present "regression" with its
// defaults, but for the tolerance: the noise of a single value (ReportNoise), and at most a fiftieth of the distance that nine tenths of the
// ends keep to the best. It has no options, and another version may judge in another way.
//
// Options, with their defaults for "decay" and "regression":
//   p           0.05  3e-5  probability of ending better than the best below which a trial is stopped; above 0, at most 1
//   tolerance   0     0     amount by which it must end better, in the units of the metric; 0 or more
//   min_trials  4     6     number of complete trials that the rule needs; 1 or more
//   min_steps   2     2     number of reports of the running trial before it is first judged; 1 or more
//   warm_up     0.05  0.05  the same as a share of the usual number of reports of complete trials; 0 to 1
//   interval    1     1     number of reports between judgements; in between, the last judgement stands; 1 or more
// A trial is complete if it ended by itself with a finite value after two reports or more. The best is one that keeps the
// outcome constraints. "regression" judges at fewer
// reports the longer the curve: each time that their number has grown by a fifth. In the last quarter of the usual number of
// reports it stops no trial.
// Numbers of a verdict: "step", "curves" (complete trials) and, if they exist, "best", "expected_end",
// "expected_end_deviation", "probability".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewDecayRule(Goal goal, const Choice& choice);
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewRegressionRule(Goal goal, const Choice& choice);
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewAutomaticRule(Goal goal, const Choice& choice);

}  // namespace vernier
