#pragma once

#include "absl/status/statusor.h"
#include "algorithms/sampling/enumeration.h"
#include "vernier/core/space.h"

namespace vernier::grid {

// Points a parameter can be given with `points:` where they have to be listed to tell which of them coincide.
inline constexpr std::int64_t kMaxListedPoints = std::int64_t{1} << 20;

// The values that a grid takes of a parameter, ascending or as listed:
// - all of them, where there are finitely many and `points` is not set;
// - with `points: K`, K values spread evenly on the parameter's scale from its lowest to its highest (the middle one if
//   K is 1), each moved to the nearest legal value; those that coincide are taken once.
// InvalidArgument: a FieldError with path "parameters.NAME.float": a float with neither step nor points.
absl::StatusOr<sampling::Axis> GridAxis(const Parameter& parameter);

}  // namespace vernier::grid
