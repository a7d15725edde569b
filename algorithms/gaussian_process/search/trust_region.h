#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// A box about a point, cut at the borders of the unit cube: where the trials are more than one model takes, a model of those
// near the best is searched in it (TuRBO: Eriksson, Pearce, Gardner, Turner, Poloczek, NeurIPS 2019).
struct Region {
  Coordinates centre;
  std::vector<double> sides;  // By coordinate, before the cut.

  double Lower(std::size_t k) const;
  double Upper(std::size_t k) const;
  // From the centre, in sides.
  double SquaredDistance(std::span<const double> u) const;
};

// How long a side is where the model changes as fast along all coordinates, by how the trials after the first `first` went:
// 0.8 to begin with; doubled, up to 1.6, after three in a row that were better than any before; halved after as many as there
// are coordinates, at least four, that were not; 0.8 again once it is below 2^-10. Better: by a thousandth of what
// lies between the median and the best of the first.  `values`: of all trials in order, larger is better.
// REQUIRES: 0 < first <= values.size().
double SideLength(std::span<const double> values, std::size_t first, std::size_t coordinates);

// Sides as long as that, longer or shorter as the length scales are than their geometric mean, by at most e^2.
// `log_length_scales`: by coordinate.
Region RegionAbout(Coordinates centre, double length, std::span<const double> log_length_scales);

}  // namespace vernier::gp
