#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier {

// Random search: points drawn independently and uniformly on the unit cube, each parameter on its scale. See README.md.
//
// No options. State: none. Looks at trials only to avoid repeats, and not at all where a point cannot repeat.
// InvalidArgument: a FieldError with path "algorithm…".
absl::StatusOr<std::unique_ptr<Optimizer>> NewRandomOptimizer(const Problem& problem,
                                                              const Choice& choice);

}  // namespace vernier
