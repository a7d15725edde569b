#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Makes asynchronous successive halving (Li et al., 2020). A trial that arrives at a rung goes on if its value there is among
// the best 1/reduction_factor of all that arrived so far. See README.md.
//
// Options:
//   type              stopping  "stopping": the first trials at a rung go on; "promotion", the form of the paper: a trial
//                            waits at each rung until so many arrived that it is among the best. Needs trials that can be
//                            paused (needs_pausing)
//   reduction_factor  4      eta; 2 to 100
//   min_resource      unset  number of reports at the first rung; 1 or more. Unset: so many that there are three rungs
//                            below the number of reports of a whole trial; while that is unknown, none is judged
//   max_resource      unset  number of reports of a whole trial, where there is no rung; min_resource or more. Unset: the
//                            usual number of reports of trials that ended by themselves
// Numbers of a verdict: "rung" (reports), "curves" (trials that arrived), "rank", "value" if it is not NaN, and "cutoff".
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewAshaRule(Goal goal, const Choice& choice);

// Makes Hyperband (Li et al., 2018) over asynchronous successive halving: trials are dealt to brackets, whose first rungs
// lie reduction_factor times further apart; a trial is compared within its bracket. See README.md.
//
// Options:
//   reduction_factor  3      eta; 2 to 100
//   min_resource      1      number of reports at the first rung of the first bracket; 1 or more
//   max_resource      unset  number of reports of a whole trial; 1 or more. Unset: the usual number of reports of trials
//                            that ended by themselves; while no trial did, none is judged
// Numbers of a verdict: as those of asha, and "bracket" from 0.
// InvalidArgument: a FieldError with path "stopping…".
absl::StatusOr<std::unique_ptr<EarlyStopper>> NewHyperbandRule(Goal goal, const Choice& choice);

}  // namespace vernier
