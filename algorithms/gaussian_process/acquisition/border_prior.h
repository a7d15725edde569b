#pragma once

#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// A belief, which fades as trials come in, that the optimum is not at the border of the ranges that a user wrote down:
//   ln pi(u) = -weight sum_k (2 u_k - 1)^4  over the active numbers,   weight = kStrength / trials,
// added to the logarithm of the acquisition (Hvarfner et al., 2022: pi-BO). Without it a young model spends its trials in
// corners, of which there are many and where it knows least.
class BorderPrior {
 public:
  // `space` must outlive the object.
  BorderPrior(const CoordinateSpace& space, std::size_t trials);

  double LogDensity(std::span<const double> u, const std::vector<char>& active) const;
  // d ln pi / d u of one number.
  double Slope(double u) const;

 private:
  const CoordinateSpace& space_;
  const double weight_;
};

}  // namespace vernier::gp
