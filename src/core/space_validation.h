#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/space.h"

// What Space::Create asks of its parameters before it builds anything. Errors are FieldErrors.
namespace vernier {

// Checks names, domains, conditions and defaults, each on its own, and gives the values of conditions and defaults the
// kind that their domain holds (1 for a float becomes 1.0).
absl::Status CheckAndNormalize(std::vector<Parameter>& parameters);

// Indices, every parent before its children, else in the given order.  InvalidArgument: conditions in a circle.
// REQUIRES: every condition's parent exists.
absl::StatusOr<std::vector<int>> OrderParentsFirst(const std::vector<Parameter>& parameters);

}  // namespace vernier
