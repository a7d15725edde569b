// The problem that most tests of the optimiser solve: a bowl over a square.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vernier/core/objective.h"
#include "vernier/core/space.h"
#include "vernier/problem.h"

namespace vernier::testing {

inline Space Square(std::vector<std::string> constraints = {}) {
  return Space::Create(
             {{.name = "x", .domain = FloatDomain{}}, {.name = "y", .domain = FloatDomain{}}},
             std::move(constraints))
      .value();
}

inline Problem Minimise(Space space) {
  return {.space = std::move(space), .objectives = {{.metric = "loss", .goal = Goal::kMinimize}}};
}

inline double Get(const Point& point, const std::string& name) {
  return std::get<double>(point.at(name));
}

// Least at (0.7, 0.2).
inline double Bowl(const Point& point) {
  return std::pow(Get(point, "x") - 0.7, 2) + 3.0 * std::pow(Get(point, "y") - 0.2, 2);
}

}  // namespace vernier::testing
