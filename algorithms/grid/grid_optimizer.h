#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Makes a grid search: every combination of the parameters' values once, in a fixed order. Combinations are computed,
// not stored. See README.md.
//
// Options:
//   shuffle  bool, default false           a random order
//   seed     integer, 0 or more            seed of that order; default: drawn from the first call's stream
// State: the next cell and the seed. Cells that are taken or violate a constraint are skipped. The search goes through
// all cells once before it returns OutOfRange, so that a lost state or a cancelled trial leaves no gap.
// InvalidArgument: a FieldError with path "algorithm…", or "parameters.NAME.float" for a float with neither a step nor
// points.
absl::StatusOr<std::unique_ptr<Optimizer>> NewGridOptimizer(const Problem& problem,
                                                            const Choice& choice);

}  // namespace vernier
