#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// Point of the initial design: first the space's default point or else its middle, then a scrambled Sobol sequence.
struct DesignPoint {
  Point point;
  bool is_default = false;
};

// Returns the design's point after `before` trials, skipping points that are not admitted. Nullopt: none of the points
// looked at is admitted. A pure function of its arguments, so that concurrent callers follow one sequence.
std::optional<DesignPoint> NextDesignPoint(const CoordinateSpace& space,
                                           std::uint64_t seed,
                                           std::uint64_t before,
                                           const std::function<bool(const Point&)>& admits);

}  // namespace vernier::gp
