#pragma once

#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

// Where a field is at least at a step of the ramp, as polygons in the units of the field.
struct Isoband {
  int step = 0;
  std::vector<std::vector<At>> polygons;
};

// The areas of a field from the lowest step to the highest. Each lies inside the one before, so that drawing them in order
// gives every place its own colour. Between the values of a smooth field levels are interpolated; rectangles around the
// values of a field of blocks are separate areas. Nothing is drawn where a value is NaN.
std::vector<Isoband> Isobands(const Field& field, int steps);

}  // namespace vernier::plot
