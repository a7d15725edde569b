#pragma once

#include <span>

#include "absl/status/status.h"
#include "src/core/constraint.h"
#include "vernier/core/space.h"

namespace vernier {

// Searches for a point that satisfies all constraints. The search is bounded and deterministic: all points of a small
// space; otherwise the default point and random points, corners of the space among them. So it may miss a tiny feasible
// region.
// InvalidArgument: no point was found. A FieldError that names the constraint that no point satisfies, or says that the
// constraints exclude each other.
absl::Status CheckFeasible(const Space& space, std::span<const Constraint> constraints);

}  // namespace vernier
