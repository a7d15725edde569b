#pragma once

#include <string>
#include <vector>

#include "vernier/core/rng.h"
#include "vernier/core/space.h"

namespace vernier::quality {

// An objective to be minimised whose least value is known, so that the regret of a point is.
struct Function {
  std::string name;
  Space space;
  double (*regret)(const Point& point);  // Above the least value; without noise.
  double noise = 0;                      // Standard deviation of what is added to a told value.
};

// One of each kind: smooth with three optima, six-dimensional, a funnel on a log scale with ripples, mixed types,
// conditional branches, noise. No optimum lies at the middle of its space, where designs like to start.
std::vector<Function> Functions();

}  // namespace vernier::quality
