// That the model is worth its time: on four functions of different kinds, over seeds paired with random search.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vernier/ask_tell.h"
#include "vernier/core/space.h"

namespace vernier {
namespace {

double Get(const Point& point, const std::string& name) { return std::get<double>(point.at(name)); }
std::string Text(const Point& point, const std::string& name) {
  return std::get<std::string>(point.at(name));
}

Space Floats(int count) {
  std::vector<Parameter> parameters;
  for (int k = 0; k < count; ++k) {
    parameters.push_back({.name = "x" + std::to_string(k), .domain = FloatDomain{}});
  }
  return Space::Create(std::move(parameters)).value();
}

// Branin and Hoo (1972), moved by a tenth of the range so that no optimum sits where a design starts. Least: 0.397887.
double Branin(const Point& point) {
  const double x = 15.0 * std::fmod(Get(point, "x0") + 0.1, 1.0) - 5.0;
  const double y = 15.0 * Get(point, "x1");
  const double pi = std::numbers::pi;
  const double t = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return t * t + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10 - 0.397887;
}

// Hartmann's six-dimensional function (Dixon and Szegő, 1978). Least: -3.32237.
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
  double value = 3.32237;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int k = 0; k < 6; ++k) {
      exponent += kA[i][k] * std::pow(Get(point, "x" + std::to_string(k)) - kP[i][k], 2);
    }
    value -= kHeight[i] * std::exp(-exponent);
  }
  return value;
}

Space MixedSpace() {
  const std::vector<ParameterValue> kinds = {std::string("a"), std::string("b"), std::string("c")};
  return Space::Create({{.name = "rate",
                         .domain = FloatDomain{.lower = 1e-5, .upper = 1, .scale = Scale::kLog}},
                        {.name = "width", .domain = IntDomain{.lower = 1, .upper = 64}},
                        {.name = "kind", .domain = CategoricalDomain{kinds}},
                        {.name = "decay", .domain = FloatDomain{}}})
      .value();
}

double Mixed(const Point& point) {
  const double rate = std::log10(Get(point, "rate")) + 2.3;
  const double width = static_cast<double>(std::get<std::int64_t>(point.at("width"))) / 64.0 - 0.4;
  const std::string kind = Text(point, "kind");
  const double offset = kind == "b" ? 0.0 : kind == "a" ? 0.3 : 0.5;
  return 0.5 * rate * rate + 2.0 * width * width + std::pow(Get(point, "decay") - 0.8, 2) + offset;
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

double Conditional(const Point& point) {
  const double shared = std::pow(Get(point, "shared") - 0.35, 2);
  if (Text(point, "branch") == "left") return 0.15 + shared + std::pow(Get(point, "p") - 0.6, 2);
  return shared + 2.0 * std::pow(Get(point, "q") - 0.2, 2) + std::pow(Get(point, "r") - 0.75, 2);
}

struct Function {
  std::string name;
  Space space;
  double (*value)(const Point&);
  int trials;
  // By how many powers of ten the regret must be smaller than that of random search.
  double margin;
};

double LogRegret(const Function& function, const std::string& algorithm, std::uint64_t seed) {
  const Problem problem{function.space, {{.metric = "loss", .goal = Goal::kMinimize}}};
  AskTell study = AskTell::Create(problem, {.name = algorithm, .options = {}}, seed).value();
  for (int i = 0; i < function.trials; ++i) {
    const AskTell::Asked asked = study.Ask().value().front();
    EXPECT_TRUE(study.Tell(asked.trial, {function.value(asked.suggestion.point)}).ok());
  }
  return std::log10(std::max(study.Best()->values.front(), 1e-6));
}

class GpQuality : public ::testing::TestWithParam<Function> {};

TEST_P(GpQuality, BeatsRandomSearchByTheMargin) {
  constexpr int kSeeds = 20;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const double gain = LogRegret(GetParam(), "random", seed) - LogRegret(GetParam(), "gp", seed);
    sum += gain;
    squares += gain * gain;
  }
  const double mean = sum / kSeeds;
  const double error = std::sqrt((squares / kSeeds - mean * mean) / (kSeeds - 1));
  constexpr double kStudent99 = 2.54;  // One-sided, 19 degrees of freedom.
  EXPECT_GT(mean - kStudent99 * error, GetParam().margin)
      << "mean gain " << mean << " decades, standard error " << error;
  RecordProperty("mean_gain", std::to_string(mean));
}

INSTANTIATE_TEST_SUITE_P(
    Functions,
    GpQuality,
    ::testing::Values(Function{"Branin", Floats(2), Branin, 25, 0.3},
                      Function{"Hartmann6", Floats(6), Hartmann6, 25, 0.15},
                      Function{"Mixed", MixedSpace(), Mixed, 18, 0.5},
                      Function{"Conditional", ConditionalSpace(), Conditional, 18, 0.5}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace vernier
