#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Grid search: every combination of the parameters' values once, in a fixed order, without storing them. See README.md.
//
// Options: shuffle (bool, default false): a seeded random order instead; seed (integer, 0 or more): of that order; unset:
// drawn from the first call's stream. State: the next cell and the seed. Cells that are taken or break a constraint are
// skipped, and the walk goes round once before it gives up, so that a lost state or a cancelled trial leaves no gap.
// InvalidArgument: a FieldError with path "algorithm…", or "parameters.NAME.float" for a float with neither a step nor
// points.
absl::StatusOr<std::unique_ptr<Optimizer>> NewGridOptimizer(const Problem& problem,
                                                            const Choice& choice);

}  // namespace vernier
