#pragma once

#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

// The area where a field reaches a step of the ramp, as polygons in the field's units.
struct Isoband {
  int step = 0;
  std::vector<std::vector<At>> polygons;
};

// The areas of a field from the lowest step to the highest. In a smooth field, levels are interpolated and each area
// contains the next, so that drawing them in order gives every place its colour; in a field of blocks, the rectangles
// around values are separate. Cells with a NaN stay empty.
std::vector<Isoband> Isobands(const Field& field, int steps);

}  // namespace vernier::plot
