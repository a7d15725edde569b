// Spaces of mixed types: integers, listed numbers, choices and switches beside floats.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "benchmarks/quality/functions.h"

namespace vernier::quality {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<ParameterValue> Names(std::initializer_list<const char*> names) {
  std::vector<ParameterValue> values;
  for (const char* name : names) values.push_back(std::string(name));
  return values;
}

Parameter Pick(const char* name, std::initializer_list<const char*> names) {
  return {.name = name, .domain = CategoricalDomain{Names(names)}};
}
Parameter Real(const char* name, double lower, double upper, Scale scale = Scale::kLinear) {
  return {.name = name, .domain = FloatDomain{.lower = lower, .upper = upper, .scale = scale}};
}
Parameter Whole(const char* name,
                std::int64_t lower,
                std::int64_t upper,
                Scale scale = Scale::kLinear) {
  return {.name = name, .domain = IntDomain{.lower = lower, .upper = upper, .scale = scale}};
}

// A bowl whose place depends on the kind; least: kind c, rate 10^-2.3, width 37, batch 32, decay 0.8.
double Bowl(const Point& point) {
  const std::string kind = Choice(point, "kind");
  const double shift = kind == "c" ? 0.0 : kind == "a" ? 0.8 : kind == "b" ? -0.6 : 0.3;
  const double offset = kind == "c" ? 0.0 : 0.2;
  const double rate = std::log10(Number(point, "rate")) + 2.3 - shift;
  const double width = (Number(point, "width") - 37) / 100;
  const double batch = std::log2(Number(point, "batch") / 32);
  return offset + 0.3 * rate * rate + 2 * width * width + 0.05 * batch * batch +
         std::pow(Number(point, "decay") - 0.8, 2);
}

// Each of six shapes has a function of its own over the same two numbers; only one of them goes down to zero.
double Shapes(const Point& p) {
  const double x = Number(p, "x");
  const double y = Number(p, "y");
  const std::string s = Choice(p, "shape");
  const double gain = Choice(p, "gain") == "high" ? 1.5 : Choice(p, "gain") == "mid" ? 1.2 : 1.0;
  double f = 0;
  if (s == "bowl") f = 0.9 + x * x + y * y;
  if (s == "ridge") f = 0.4 + std::abs(x - y) + 0.2 * x * x;
  if (s == "wave") f = 0.7 + 0.5 * std::sin(3 * x) * std::cos(2 * y) + 0.1 * (x * x + y * y);
  if (s == "banana") f = 0.1 * std::pow(y - x * x + 0.5, 2) * 10 + 0.1 * std::pow(x - 1.2, 2);
  if (s == "plateau")
    f = 0.5 + 1.2 * (1 - std::exp(-4 * (std::pow(x - 0.5, 2) + std::pow(y + 1.1, 2))));
  if (s == "slope") f = 1.3 + 0.3 * x - 0.2 * y;
  return gain * f;
}

// Ackley's function over three switches that each ought to be on, an integer and two floats.
double SwitchedAckley(const Point& p) {
  std::array<double, 6> z{};
  for (int k = 0; k < 3; ++k) z[k] = std::get<bool>(p.at("s" + std::to_string(k))) ? 0.0 : 1.0;
  z[3] = 0.1 * (Number(p, "n") - 13);
  z[4] = 2 * (Number(p, "x") - 0.31);
  z[5] = 2 * (Number(p, "y") - 0.74);
  double squares = 0;
  double cosines = 0;
  for (const double v : z) {
    squares += v * v / 6;
    cosines += std::cos(2 * kPi * v) / 6;
  }
  return 20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt(squares)) - std::exp(cosines);
}

// Gear train design (Sandgren, 1990): the logarithm of how far the ratio of four gears is from 1 / 6.931.
double Gears(const Point& p) {
  const double ratio = Number(p, "a") * Number(p, "b") / (Number(p, "c") * Number(p, "d"));
  return 0.5 * (std::log10(std::pow(1 / 6.931 - ratio, 2) + 1e-9) + 8.9987);
}

// The loss of a tuned pipeline: tables of effects of choices, two of which work together, and a curve over each number.
double Pipeline(const Point& p) {
  const std::string scaler = Choice(p, "scaler");
  const std::string solver = Choice(p, "solver");
  const std::string loss = Choice(p, "loss");
  double f = scaler == "none" ? 0.30 : scaler == "minmax" ? 0.08 : scaler == "robust" ? 0.03 : 0.0;
  f += solver == "lbfgs" ? 0.05 : solver == "sgd" ? 0.10 : solver == "newton" ? 0.0 : 0.20;
  if (solver == "sgd" && scaler == "standard") f -= 0.13;
  f += loss == "log" ? 0.0 : loss == "hinge" ? 0.04 : 0.09;
  const double c = std::log10(Number(p, "c")) - (solver == "sgd" ? 0.7 : -0.8);
  f += 0.06 * c * c;
  f += 0.15 * std::pow(std::log2(Number(p, "iterations") / 300), 2) / 9;
  f += 0.2 * std::pow(Number(p, "mix") - 0.27, 2);
  return f + (std::get<bool>(p.at("balanced")) ? 0.0 : 0.02) + 0.03;
}

// Weights of a knapsack-like choice of 12 switches with neighbours that do not get on.
double Switches(const Point& p) {
  constexpr std::array<double, 12> kGain = {3, -2, 4, 1, -1, 5, 2, -3, 2.5, 1.5, -0.5, 3.5};
  double value = 0;
  std::array<bool, 12> on{};
  for (int k = 0; k < 12; ++k) {
    on[k] = std::get<bool>(p.at("s" + std::to_string(k)));
    if (on[k]) value += kGain[k];
  }
  for (int k = 0; k + 1 < 12; ++k) {
    if (on[k] && on[k + 1]) value -= 2.2;
  }
  return 18.0 - value;
}

}  // namespace

void AddMixed(std::vector<Function>& functions) {
  const auto add =
      [&](const char* name, std::vector<Parameter> parameters, double (*f)(const Point&)) {
        functions.push_back({name, "mixed", Space::Create(std::move(parameters)).value(), f});
      };
  add("bowl5",
      {Real("rate", 1e-6, 1, Scale::kLog),
       Whole("width", 1, 100),
       {.name = "batch", .domain = DiscreteDomain{{8, 16, 32, 64, 128}}},
       Pick("kind", {"a", "b", "c", "d"}),
       Real("decay", 0, 1)},
      Bowl);
  add("shapes4",
      {Pick("shape", {"bowl", "ridge", "slope", "wave", "banana", "plateau"}),
       Pick("gain", {"high", "mid", "low"}),
       Real("x", -2, 2),
       Real("y", -2, 2)},
      Shapes);
  std::vector<Parameter> ackley;
  for (int k = 0; k < 3; ++k)
    ackley.push_back({.name = "s" + std::to_string(k), .domain = BoolDomain{}});
  ackley.insert(ackley.end(), {Whole("n", 0, 40), Real("x", 0, 1), Real("y", 0, 1)});
  add("switched_ackley6", ackley, SwitchedAckley);
  add("gears4",
      {Whole("a", 12, 60), Whole("b", 12, 60), Whole("c", 12, 60), Whole("d", 12, 60)},
      Gears);
  add("pipeline7",
      {Pick("scaler", {"none", "minmax", "standard", "robust"}),
       Pick("solver", {"lbfgs", "saga", "sgd", "newton"}),
       Pick("loss", {"squared", "hinge", "log"}),
       Real("c", 1e-4, 1e4, Scale::kLog),
       Whole("iterations", 10, 2000, Scale::kLog),
       Real("mix", 0, 1),
       {.name = "balanced", .domain = BoolDomain{}}},
      Pipeline);
  std::vector<Parameter> switches;
  for (int k = 0; k < 12; ++k)
    switches.push_back({.name = "s" + std::to_string(k), .domain = BoolDomain{}});
  add("switches12", switches, Switches);
}

}  // namespace vernier::quality
