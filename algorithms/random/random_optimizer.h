#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Makes a random search: points drawn independently and uniformly from the unit cube, each parameter on its scale. See
// README.md.
//
// No options, no state. Uses trials only to avoid repeated points.
// InvalidArgument: a FieldError with path "algorithm…".
absl::StatusOr<std::unique_ptr<Optimizer>> NewRandomOptimizer(const Problem& problem,
                                                              const Choice& choice);

}  // namespace vernier
