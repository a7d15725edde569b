#pragma once

#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// Prior that the optimum is not at the border of the ranges that a user wrote down, fading as trials come in:
//   ln pi(u) = -weight sum_k (2 u_k - 1)^4  over the active numbers,   weight = kStrength / trials,
// added to the logarithm of the acquisition (Hvarfner et al., 2022: pi-BO). Without it, a model of few trials spends
// them in corners, of which there are many and where its variance is largest (docs/adr/0012).
class BorderPrior {
 public:
  // `space` must outlive the object.  `trials`: number of trials so far; 0 counts as 1.
  BorderPrior(const CoordinateSpace& space, std::size_t trials);

  // ln pi of a rounded configuration, up to a constant.
  double LogDensity(std::span<const double> u, const std::vector<char>& active) const;
  // d ln pi / d u_k of one number.
  double Slope(double u) const;

 private:
  const CoordinateSpace& space_;
  const double weight_;
};

}  // namespace vernier::gp
