#include "algorithms/gaussian_process/search/initial_design.h"

#include <cstddef>
#include <utility>

#include "algorithms/numerics/sobol.h"

namespace vernier::gp {
namespace {

// Largest number of points of the sequence that are looked at for one suggestion. A choice: after that the caller draws
// a point at random from what is admitted.
constexpr std::uint64_t kTries = 64;
// Distance of these points in the sequence. A choice: larger than a design, so that the replacement of a skipped point
// is not the next trial's point.
constexpr std::uint64_t kStride = 4096;

}  // namespace

std::optional<DesignPoint> NextDesignPoint(const CoordinateSpace& space,
                                           std::uint64_t seed,
                                           std::uint64_t before,
                                           const std::function<bool(const Point&)>& admits) {
  if (before == 0) {
    std::optional<Point> start = space.space().DefaultPoint();
    const bool is_default = start.has_value();
    if (!start) start = space.Decode(Coordinates(static_cast<std::size_t>(space.size()), 0.5));
    if (admits(*start)) return DesignPoint{.point = *std::move(start), .is_default = is_default};
  }
  Coordinates u(static_cast<std::size_t>(space.size()));
  for (std::uint64_t i = 0; i < kTries; ++i) {
    numerics::ScrambledSobolPoint(before + i * kStride, seed, u);
    Point point = space.Decode(u);
    if (admits(point)) return DesignPoint{.point = std::move(point)};
  }
  return std::nullopt;
}

}  // namespace vernier::gp
