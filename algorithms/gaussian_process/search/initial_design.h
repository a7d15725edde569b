#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// The points tried before a model decides: the space's default point or else its middle, then a scrambled Sobol sequence.
struct DesignPoint {
  Point point;
  bool is_default = false;
};

// The design's point after `before` trials. Passes over points that are not admitted; nullopt if that is true of all it
// looked at. A pure function of its arguments, so that several askers walk one sequence.
std::optional<DesignPoint> NextDesignPoint(const CoordinateSpace& space,
                                           std::uint64_t seed,
                                           std::uint64_t before,
                                           const std::function<bool(const Point&)>& admits);

}  // namespace vernier::gp
