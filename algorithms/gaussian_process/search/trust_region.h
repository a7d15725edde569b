#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// Trust region: a box around a point, cut at the borders of the unit cube. With more trials than one model takes, a
// model of the trials near the best one is searched inside it (TuRBO: Eriksson, Pearce, Gardner, Turner, Poloczek,
// NeurIPS 2019; docs/adr/0019).
struct Region {
  Coordinates centre;
  std::vector<double> sides;  // Lengths by coordinate, before the cut.

  double Lower(std::size_t k) const;
  double Upper(std::size_t k) const;
  // Squared distance from the centre, each coordinate in units of its side.
  double SquaredDistance(std::span<const double> u) const;
};

// Side length of the region, a function of the trials after the first `first` ones. It starts at 0.8. It is doubled, up
// to 1.6, after three successes in a row, and halved after as many failures in a row as there are coordinates, at least
// four. Below 2^-10 it starts again at 0.8. A success is better than all trials before by a thousandth of the distance
// between median and best of the first ones.  `values`: of all trials in order, larger is better.
// REQUIRES: 0 < first <= values.size().
double SideLength(std::span<const double> values, std::size_t first, std::size_t coordinates);

// Region around `centre`. Each side is `length` times the ratio of its length scale to their geometric mean, the ratio
// being between e^-2 and e^2: longer where the model is flatter.  `log_length_scales`: by coordinate.
Region RegionAbout(Coordinates centre, double length, std::span<const double> log_length_scales);

}  // namespace vernier::gp
