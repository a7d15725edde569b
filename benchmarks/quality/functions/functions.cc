#include "benchmarks/quality/functions.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace vernier::quality {

double Number(const Point& point, const std::string& name) {
  const ParameterValue& value = point.at(name);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

std::string Choice(const Point& point, const std::string& name) {
  return std::get<std::string>(point.at(name));
}

Space Box(int dimensions, double lower, double upper) {
  std::vector<Parameter> parameters;
  for (int k = 0; k < dimensions; ++k) {
    parameters.push_back(
        {.name = "x" + std::to_string(k), .domain = FloatDomain{.lower = lower, .upper = upper}});
  }
  return Space::Create(std::move(parameters)).value();
}

std::vector<double> Coordinates(const Point& point, int dimensions) {
  std::vector<double> x;
  for (int k = 0; k < dimensions; ++k) x.push_back(Number(point, "x" + std::to_string(k)));
  return x;
}

std::vector<Function> Functions() {
  std::vector<Function> functions;
  AddSmooth(functions);
  AddRotated(functions);
  AddMixed(functions);
  AddConditional(functions);
  AddTraining(functions);
  AddNoisy(functions);
  return functions;
}

}  // namespace vernier::quality
