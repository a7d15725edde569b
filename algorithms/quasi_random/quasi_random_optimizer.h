#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Makes a quasi-random search: the points of an Owen-scrambled Sobol sequence, one dimension for each parameter. See
// README.md.
//
// Options:
//   seed  integer, 0 or more  seed of the scrambling; default: drawn from the first call's stream
// State: the position in the sequence and the seed. Without it, a new sequence starts, with another scrambling unless
// the option is set. Points that are taken or violate a constraint are skipped.
// InvalidArgument: a FieldError with path "algorithm…".
absl::StatusOr<std::unique_ptr<Optimizer>> NewQuasiRandomOptimizer(const Problem& problem,
                                                                   const Choice& choice);

}  // namespace vernier
