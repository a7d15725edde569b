#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/choice.h"
#include "vernier/optimizer.h"

namespace vernier {

// "gp": Bayesian optimisation with a Gaussian process (README.md of this folder says how).
//
// Options: `initial_points` (default 5): points of the initial design, spread over the space before the model decides.
// `max_points` (default 1024): the largest number of trials that the model takes in; of
// more, 5/8 as many (history.h). With many metrics or parameters it takes in less, or there is no model and points are
// quasi-random, so that a suggestion's work is bounded (model_size.h); each suggestion says so.
// InvalidArgument: a FieldError: an illegal option ("algorithm…"), more than four objectives
// ("objective").
absl::StatusOr<std::unique_ptr<Optimizer>> NewGpOptimizer(const Problem& problem,
                                                          const Choice& choice);

}  // namespace vernier
