#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/choice.h"
#include "vernier/optimizer.h"

namespace vernier {

// Creates "gp": Bayesian optimisation with a Gaussian process. README.md of this folder describes it.
//
// Options:
//   initial_points (default 5): number of points of the initial design, spread over the space before the model decides.
//   max_points (default 1024): largest number of trials in a model; of more, a subsample of 5/8 as many (training_set.h).
//   repeat_best (default false; needs earlier studies): the first trials are the best points of the earlier studies again.
// With many metrics or parameters models are smaller, or there is none and points are quasi-random, so that the work of
// a suggestion is bounded (model_size.h); each suggestion then says so.
//
// InvalidArgument, a FieldError: an invalid option ("algorithm…"), more than four objectives ("objective"), a trial of
// an earlier study that does not fit the problem ("warm_start…").
absl::StatusOr<std::unique_ptr<Optimizer>> NewGpOptimizer(const Problem& problem,
                                                          const Choice& choice);

}  // namespace vernier
