#pragma once

#include <span>

#include "absl/status/status.h"
#include "src/core/constraint.h"
#include "vernier/core/space.h"

namespace vernier {

// OK if some point satisfies all constraints. The search is bounded and deterministic: every point of a small space, else
// the default point and many random ones, corners of the space among them.
// InvalidArgument: a FieldError that names the constraint that no point satisfies, or says that they exclude each other.
absl::Status CheckFeasible(const Space& space, std::span<const Constraint> constraints);

}  // namespace vernier
