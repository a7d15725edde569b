#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/optimizer.h"

namespace vernier {

// "gp": Bayesian optimisation with a Gaussian process (README.md of this folder says how).
//
// Options: `initial_points` (default 5): points of the initial design, spread over the space before the model decides.
// `max_points` (default 1024): the largest number of trials that the model takes in; of
// more, 5/8 as many (history.h).
// InvalidArgument: a FieldError: an illegal option ("algorithm…"), more than four objectives
// ("objective").
absl::StatusOr<std::unique_ptr<Optimizer>> NewGpOptimizer(const Problem& problem,
                                                          const Choice& choice);

}  // namespace vernier
