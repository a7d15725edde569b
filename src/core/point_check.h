#pragma once

#include "absl/status/status.h"
#include "vernier/core/space.h"

// Checks of points that may lack values, as trials of foreign studies may.
namespace vernier {

// Whether each active parameter has a value. A parameter whose parent has no value is not active.
bool IsWhole(const Space& space, const Point& point);

// As Space::Check, for a point that may lack values: the present values must be legal. A parameter may have a value
// while its parent has none, if some value of the parent makes it active.  InvalidArgument: a FieldError.
absl::Status CheckGiven(const Space& space, const Point& point);

// As Space::Check, without the constraints.
absl::Status CheckValues(const Space& space, const Point& point);

}  // namespace vernier
