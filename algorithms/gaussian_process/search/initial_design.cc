#include "algorithms/gaussian_process/search/initial_design.h"

#include <cstddef>
#include <utility>

#include "algorithms/numerics/sobol.h"

namespace vernier::gp {
namespace {

// Points of the sequence looked at for one suggestion, and how far apart they are in it: farther than a design is long,
// so that the points passed over for one trial are not those of the next.
constexpr std::uint64_t kTries = 64;
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
