#include "algorithms/gaussian_process/acquisition/border_prior.h"

#include <algorithm>

namespace vernier::gp {
namespace {

// As ln EI: a corner of five numbers is e^5 times less promising than the middle at five trials, e times at 25.
constexpr double kStrength = 5.0;

double Cube(double t) { return t * t * t; }

}  // namespace

BorderPrior::BorderPrior(const CoordinateSpace& space, std::size_t trials)
    : space_(space), weight_(kStrength / static_cast<double>(std::max<std::size_t>(trials, 1))) {}

double BorderPrior::LogDensity(std::span<const double> u, const std::vector<char>& active) const {
  double sum = 0;
  for (int k = 0; k < space_.size(); ++k) {
    const bool is_number = space_.kind(k) == Kind::kContinuous || space_.kind(k) == Kind::kOrdered;
    const auto i = static_cast<std::size_t>(k);
    if (is_number && active[i]) sum += Cube(2.0 * u[i] - 1.0) * (2.0 * u[i] - 1.0);
  }
  return -weight_ * sum;
}

double BorderPrior::Slope(double u) const { return -8.0 * weight_ * Cube(2.0 * u - 1.0); }

}  // namespace vernier::gp
