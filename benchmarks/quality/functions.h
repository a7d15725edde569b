#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vernier/core/rng.h"
#include "vernier/core/space.h"

namespace vernier::quality {

// An objective to be minimised whose least value is known, so that the regret of a point is.
struct Function {
  std::string name;
  std::string family;
  Space space;
  // Above the least value, known or ever found; without noise.
  std::function<double(const Point&)> regret;
  double noise = 0;  // Standard deviation of what is added to a told value.
};

// All functions, by family. No optimum lies at the middle of its space, where designs like to start.
std::vector<Function> Functions();

// The families, one file of functions/ each.
void AddSmooth(std::vector<Function>& functions);
void AddRotated(std::vector<Function>& functions);
void AddMixed(std::vector<Function>& functions);
void AddConditional(std::vector<Function>& functions);
void AddTraining(std::vector<Function>& functions);
void AddNoisy(std::vector<Function>& functions);  // Of those there are: comes last.

// What the families share: the value of a number or a choice, the space x0 … x(d-1) and the coordinates of its points.
double Number(const Point& point, const std::string& name);
std::string Choice(const Point& point, const std::string& name);
Space Box(int dimensions, double lower, double upper);
std::vector<double> Coordinates(const Point& point, int dimensions);

}  // namespace vernier::quality
