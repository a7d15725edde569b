#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/space.h"

// Checks of Space::Create. Errors are FieldErrors.
namespace vernier {

// Checks names, domains, conditions and defaults, each by itself, and converts whole numbers in conditions and defaults
// to the type of their domain (1 for a float becomes 1.0).
absl::Status CheckAndNormalize(std::vector<Parameter>& parameters);

// Returns the indices of the parameters in an order with every parent before its children, otherwise as given.
// InvalidArgument: the conditions form a cycle.
// REQUIRES: every condition's parent exists.
absl::StatusOr<std::vector<int>> OrderParentsFirst(const std::vector<Parameter>& parameters);

}  // namespace vernier
