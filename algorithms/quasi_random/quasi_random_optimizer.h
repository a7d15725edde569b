#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Quasi-random search: the points of an Owen-scrambled Sobol sequence, one dimension for each parameter. See README.md.
//
// Options: seed (integer, 0 or more): which scrambling; unset: drawn from the first call's stream. Points that are taken
// or break a constraint are skipped. State: the place in the sequence and the seed of the scrambling; without it, the
// sequence begins anew under another scrambling.
// InvalidArgument: a FieldError with path "algorithm…".
absl::StatusOr<std::unique_ptr<Optimizer>> NewQuasiRandomOptimizer(const Problem& problem,
                                                                   const Choice& choice);

}  // namespace vernier
