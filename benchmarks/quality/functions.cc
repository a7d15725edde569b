#include "benchmarks/quality/functions.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace vernier::quality {
namespace {

constexpr double kPi = std::numbers::pi;

double Get(const Point& point, const std::string& name) { return std::get<double>(point.at(name)); }
double Get(const Point& point, int k) { return Get(point, "x" + std::to_string(k)); }

Space Floats(int count, const FloatDomain& domain) {
  std::vector<Parameter> parameters;
  for (int k = 0; k < count; ++k) {
    parameters.push_back({.name = "x" + std::to_string(k), .domain = domain});
  }
  return Space::Create(std::move(parameters)).value();
}

// Branin and Hoo (1972), turned by a tenth of the range.
double Branin(const Point& point) {
  const double x = 15.0 * std::fmod(Get(point, 0) + 0.1, 1.0) - 5.0;
  const double y = 15.0 * Get(point, 1);
  const double t = y - 5.1 / (4 * kPi * kPi) * x * x + 5 / kPi * x - 6;
  return t * t + 10 * (1 - 1 / (8 * kPi)) * std::cos(x) + 10 - 0.39788735772973816;
}

// Hartmann's function in six dimensions (Dixon and Szego, 1978).
double Hartmann6(const Point& point) {
  constexpr double kA[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                               {0.05, 10, 17, 0.1, 8, 14},
                               {3, 3.5, 1.7, 10, 17, 8},
                               {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kP[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                               {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                               {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                               {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  constexpr double kHeight[4] = {1.0, 1.2, 3.0, 3.2};
  double value = 3.322368011415515;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int k = 0; k < 6; ++k) exponent += kA[i][k] * std::pow(Get(point, k) - kP[i][k], 2);
    value -= kHeight[i] * std::exp(-exponent);
  }
  return value;
}

// Ackley's function (1987) of the logarithms; least at 10^-2.3 in every coordinate.
double AckleyLog(const Point& point) {
  constexpr int kDimensions = 4;
  double squares = 0;
  double cosines = 0;
  for (int k = 0; k < kDimensions; ++k) {
    const double x = 2.0 * (std::log10(Get(point, k)) + 2.3);
    squares += x * x / kDimensions;
    cosines += std::cos(2 * kPi * x) / kDimensions;
  }
  return 20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt(squares)) - std::exp(cosines);
}

Space MixedSpace() {
  const std::vector<ParameterValue> kinds = {
      std::string("a"), std::string("b"), std::string("c"), std::string("d")};
  const FloatDomain rate{.lower = 1e-6, .upper = 1, .scale = Scale::kLog};
  return Space::Create({{.name = "rate", .domain = rate},
                        {.name = "width", .domain = IntDomain{.lower = 1, .upper = 100}},
                        {.name = "batch", .domain = DiscreteDomain{{8, 16, 32, 64, 128}}},
                        {.name = "kind", .domain = CategoricalDomain{kinds}},
                        {.name = "decay", .domain = FloatDomain{}}})
      .value();
}

// A bowl whose place depends on the kind; least: kind c, rate 10^-2.3, width 37, batch 32, decay 0.8.
double Mixed(const Point& point) {
  const auto kind = std::get<std::string>(point.at("kind"));
  const double shift = kind == "c" ? 0.0 : kind == "a" ? 0.8 : kind == "b" ? -0.6 : 0.3;
  const double offset = kind == "c" ? 0.0 : 0.2;
  const double rate = std::log10(Get(point, "rate")) + 2.3 - shift;
  const double width = (static_cast<double>(std::get<std::int64_t>(point.at("width"))) - 37) / 100;
  const double batch = std::log2(Get(point, "batch") / 32);
  return offset + 0.3 * rate * rate + 2 * width * width + 0.05 * batch * batch +
         std::pow(Get(point, "decay") - 0.8, 2);
}

Space ConditionalSpace() {
  const std::vector<ParameterValue> branches = {std::string("left"), std::string("right")};
  const auto when = [](const char* branch) {
    return std::vector<Condition>{{.parent = "branch", .values = {std::string(branch)}}};
  };
  return Space::Create({{.name = "branch", .domain = CategoricalDomain{branches}},
                        {.name = "shared", .domain = FloatDomain{}},
                        {.name = "p", .domain = FloatDomain{}, .when = when("left")},
                        {.name = "q", .domain = FloatDomain{}, .when = when("right")},
                        {.name = "r", .domain = FloatDomain{}, .when = when("right")}})
      .value();
}

// The left branch is easier and ends 0.1 higher.
double Conditional(const Point& point) {
  const double shared = std::pow(Get(point, "shared") - 0.35, 2);
  if (std::get<std::string>(point.at("branch")) == "left") {
    return 0.1 + shared + std::pow(Get(point, "p") - 0.6, 2);
  }
  return shared + 2 * std::pow(Get(point, "q") - 0.2, 2) + std::pow(Get(point, "r") - 0.75, 2);
}

}  // namespace

std::vector<Function> Functions() {
  const FloatDomain logarithmic{.lower = 1e-5, .upper = 1, .scale = Scale::kLog};
  return {{"branin", Floats(2, {}), Branin},
          {"hartmann6", Floats(6, {}), Hartmann6},
          {"ackley-log4", Floats(4, logarithmic), AckleyLog},
          {"mixed", MixedSpace(), Mixed},
          {"conditional", ConditionalSpace(), Conditional},
          {"hartmann6-noisy", Floats(6, {}), Hartmann6, 0.1}};
}

}  // namespace vernier::quality
