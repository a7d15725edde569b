#pragma once

#include "absl/status/statusor.h"
#include "algorithms/sampling/enumeration.h"
#include "vernier/core/space.h"

namespace vernier::grid {

// Largest number of `points:` of a parameter: they are listed in memory, to find those that coincide. A choice.
inline constexpr std::int64_t kMaxListedPoints = std::int64_t{1} << 20;

// Returns the values of a parameter in a grid, ascending or as listed:
// - all values, if there are finitely many and `points` is not set;
// - with `points: K`, K values spread evenly on the parameter's scale from the lowest to the highest (the middle one
//   if K is 1), each rounded to the nearest legal value, without duplicates.
// InvalidArgument: a FieldError with path "parameters.NAME.float" or "parameters.NAME.int": infinitely many values
// without `points`, or too many points.
absl::StatusOr<sampling::Axis> GridAxis(const Parameter& parameter);

}  // namespace vernier::grid
