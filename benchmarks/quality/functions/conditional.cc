// Spaces with parameters that exist only under a condition, to two levels.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "benchmarks/quality/functions.h"

namespace vernier::quality {
namespace {

std::vector<Condition> When(const char* parent, std::vector<ParameterValue> values) {
  return {{.parent = parent, .values = std::move(values)}};
}
Parameter Real(
    const char* name, double lower, double upper, Scale scale, std::vector<Condition> when = {}) {
  return {.name = name,
          .domain = FloatDomain{.lower = lower, .upper = upper, .scale = scale},
          .when = std::move(when)};
}

// The left branch is easier and ends 0.1 higher.
double Branches(const Point& point) {
  const double shared = std::pow(Number(point, "shared") - 0.35, 2);
  if (Choice(point, "branch") == "left") {
    return 0.1 + shared + std::pow(Number(point, "p") - 0.6, 2);
  }
  return shared + 2 * std::pow(Number(point, "q") - 0.2, 2) +
         std::pow(Number(point, "r") - 0.75, 2);
}

// Optimisers with parameters of their own and a learning rate whose best value differs.
double Optimizers(const Point& p) {
  const std::string o = Choice(p, "optimizer");
  const double rate = std::log10(Number(p, "rate"));
  double f = 0.2 * std::pow(Number(p, "dropout") - 0.25, 2);
  if (o == "sgd") {
    f += 0.02 + 0.12 * std::pow(rate + 1.1, 2) + 0.5 * std::pow(Number(p, "momentum") - 0.87, 2);
    if (Choice(p, "schedule") == "cosine") {
      f += -0.02 + 0.1 * std::pow(Number(p, "warmup") - 0.15, 2);
    }
  } else if (o == "adam") {
    f += 0.05 + 0.10 * std::pow(rate + 2.9, 2) +
         0.02 * std::pow(std::log10(Number(p, "epsilon")) + 7, 2);
  } else if (o == "rmsprop") {
    f += 0.08 + 0.15 * std::pow(rate + 3.3, 2) + 0.3 * std::pow(Number(p, "rho") - 0.9, 2);
  } else {
    f += 0.15 + 0.05 * std::pow(rate + 2.0, 2);
  }
  return f;
}

// One to four layers, each with a width of its own; too many and too wide ones overfit.
double Layers(const Point& p) {
  const auto layers = std::get<std::int64_t>(p.at("layers"));
  double capacity = 0;
  double shape = 0;
  double before = 7;
  for (std::int64_t i = 1; i <= layers; ++i) {
    const double width = std::log2(Number(p, "width" + std::to_string(i)));
    capacity += width;
    shape += 0.03 * std::pow(width - before + 0.8, 2);
    before = width;
  }
  const double fit = 0.01 * std::pow(capacity - 17.1, 2);
  constexpr double kLeast = 0.00144;  // Found by a long search.
  return -kLeast + 0.04 * std::abs(static_cast<double>(layers) - 3) + fit + shape +
         0.08 *
             std::pow(std::log10(Number(p, "rate")) + 2.6 + 0.2 * static_cast<double>(layers), 2);
}

}  // namespace

void AddConditional(std::vector<Function>& functions) {
  const auto add =
      [&](const char* name, std::vector<Parameter> parameters, double (*f)(const Point&)) {
        functions.push_back({name, "conditional", Space::Create(std::move(parameters)).value(), f});
      };
  const auto text = [](const char* s) { return ParameterValue(std::string(s)); };
  add("branches",
      {{.name = "branch", .domain = CategoricalDomain{{text("left"), text("right")}}},
       Real("shared", 0, 1, Scale::kLinear),
       Real("p", 0, 1, Scale::kLinear, When("branch", {text("left")})),
       Real("q", 0, 1, Scale::kLinear, When("branch", {text("right")})),
       Real("r", 0, 1, Scale::kLinear, When("branch", {text("right")}))},
      Branches);
  add("optimizers",
      {{.name = "optimizer",
        .domain = CategoricalDomain{{text("lion"), text("sgd"), text("rmsprop"), text("adam")}}},
       Real("rate", 1e-5, 1, Scale::kLog),
       Real("dropout", 0, 0.8, Scale::kLinear),
       Real("momentum", 0, 0.99, Scale::kLinear, When("optimizer", {text("sgd")})),
       {.name = "schedule",
        .domain = CategoricalDomain{{text("constant"), text("cosine")}},
        .when = When("optimizer", {text("sgd")})},
       Real("warmup", 0, 0.5, Scale::kLinear, When("schedule", {text("cosine")})),
       Real("epsilon", 1e-9, 1e-3, Scale::kLog, When("optimizer", {text("adam")})),
       Real("rho", 0.5, 0.999, Scale::kLinear, When("optimizer", {text("rmsprop")}))},
      Optimizers);
  std::vector<Parameter> layers = {{.name = "layers", .domain = IntDomain{.lower = 1, .upper = 4}},
                                   Real("rate", 1e-5, 1e-1, Scale::kLog)};
  for (std::int64_t i = 1; i <= 4; ++i) {
    Parameter width{.name = "width" + std::to_string(i),
                    .domain = IntDomain{.lower = 8, .upper = 1024, .scale = Scale::kLog}};
    if (i > 1) {
      std::vector<ParameterValue> counts;
      for (std::int64_t n = i; n <= 4; ++n) counts.emplace_back(n);
      width.when = When("layers", counts);
    }
    layers.push_back(width);
  }
  add("layers", layers, Layers);
}

}  // namespace vernier::quality
