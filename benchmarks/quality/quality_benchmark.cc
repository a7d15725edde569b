// How good the points are: each algorithm on each function over paired seeds (the same seed gives the same noise).
//
//   quality_benchmark [--short] [--only TEXT] OUTPUT_PREFIX     writes OUTPUT_PREFIX.json and OUTPUT_PREFIX.svg
//
// --short: 3 seeds of 25 trials instead of 20 of 60.  --only: functions whose name or family holds TEXT.
//
// Regret is that of the point with the best told value, and normalised: divided by the median regret of 1001 random points,
// within [1e-4, 1]. Score: -log10 of it, over 4: 0 is a median random point, 1 is within 0.01 % of the optimum. Means
// are over functions of means over seeds.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "benchmarks/quality/regret_chart.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/ask_tell.h"
#include "vernier/core/unit_cube.h"

namespace vernier::quality {
namespace {

const std::vector<std::string> kAlgorithms = {"gp", "quasi-random", "random"};
constexpr double kLeastRegret = 1e-4;

struct Plan {
  std::uint64_t seeds = 20;
  std::size_t trials = 60;
  std::string only;
  std::string prefix;
};

double Reference(const Function& function) {
  Rng rng(777);
  std::vector<double> regrets;
  while (regrets.size() < 1001) {
    std::vector<double> u(function.space.parameters().size());
    for (double& coordinate : u) coordinate = rng.Uniform();
    regrets.push_back(function.regret(DecodePoint(function.space, u)));
  }
  std::nth_element(regrets.begin(), regrets.begin() + 500, regrets.end());
  return regrets[500];
}

double Score(double regret, double reference) {
  return -std::log10(std::clamp(regret / reference, kLeastRegret, 1.0)) / 4.0;
}

// Scores after each trial, and what asking cost.
struct Run {
  std::vector<double> score;
  double seconds = 0;
};

Run Search(const Function& function,
           double reference,
           const std::string& algorithm,
           std::uint64_t seed,
           std::size_t trials) {
  const Problem problem{function.space, {{.metric = "loss", .goal = Goal::kMinimize}}};
  AskTell study = AskTell::Create(problem, {.name = algorithm, .options = {}}, seed).value();
  Rng noise = Rng(seed).Fork(0x6e6f697365);
  Run run;
  double least_told = 0;
  while (run.score.size() < trials) {
    const auto before = std::chrono::steady_clock::now();
    const auto asked = study.Ask();
    run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    if (!asked.ok()) break;  // A finite space that has no more points.
    const double regret = function.regret(asked->front().suggestion.point);
    const double told = regret + function.noise * noise.Normal();
    if (!study.Tell(asked->front().trial, {told}).ok()) break;
    const bool is_best = run.score.empty() || told < least_told;
    if (is_best) least_told = told;
    run.score.push_back(is_best ? Score(regret, reference) : run.score.back());
  }
  run.score.resize(trials, run.score.back());
  return run;
}

// Scores of one algorithm on one function: the means over the seeds after each trial, and those at the end by seed.
struct Result {
  std::vector<double> mean;
  std::vector<double> last;
  double seconds_per_ask = 0;
};

Result Average(const Function& function, const std::string& algorithm, const Plan& plan) {
  const double reference = Reference(function);
  const auto seeds = static_cast<double>(plan.seeds);
  Result result{.mean = std::vector<double>(plan.trials), .last = {}};
  for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) {
    const Run run = Search(function, reference, algorithm, seed, plan.trials);
    for (std::size_t t = 0; t < plan.trials; ++t) result.mean[t] += run.score[t] / seeds;
    result.last.push_back(run.score.back());
    result.seconds_per_ask += run.seconds / seeds / static_cast<double>(plan.trials);
  }
  return result;
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// By family and algorithm: the sum of the mean scores after each trial.
struct Family {
  std::map<std::string, std::vector<double>> sums;
  double functions = 0;
};

Panel PanelOf(const std::string& name, const Family& family) {
  Panel panel{.title = name, .curves = {}};
  for (const std::string& algorithm : kAlgorithms) {
    Curve curve{.algorithm = algorithm, .regret = {}};
    for (const double sum : family.sums.at(algorithm)) {
      curve.regret.push_back(std::pow(10.0, -4.0 * sum / family.functions));
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

int Main(const Plan& plan) {
  nlohmann::ordered_json json = {{"seeds", plan.seeds}, {"trials", plan.trials}};
  std::map<std::string, Family> families;
  for (const Function& function : Functions()) {
    if (!Holds(function.name, plan.only) && !Holds(function.family, plan.only)) continue;
    Family& family = families[function.family];
    ++family.functions;
    fmt::print("{:24} {:12}", function.name, function.family);
    for (const std::string& algorithm : kAlgorithms) {
      const Result result = Average(function, algorithm, plan);
      fmt::print(" {} {:.3f}", algorithm, result.mean.back());
      std::fflush(stdout);
      json["functions"][function.name][algorithm] = {{"mean_score", result.mean},
                                                     {"final_score", result.last},
                                                     {"ms_per_ask", 1e3 * result.seconds_per_ask}};
      std::vector<double>& sums = family.sums[algorithm];
      sums.resize(plan.trials);
      for (std::size_t t = 0; t < plan.trials; ++t) sums[t] += result.mean[t];
    }
    fmt::print("\n");
  }
  std::vector<Panel> panels;
  for (const auto& [name, family] : families) panels.push_back(PanelOf(name, family));
  std::ofstream(plan.prefix + ".json") << json.dump(1) << "\n";
  std::ofstream svg(plan.prefix + ".svg");
  svg << RegretChart(panels);
  return svg.good() ? 0 : 1;
}

}  // namespace
}  // namespace vernier::quality

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  vernier::quality::Plan plan;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--short") {
      plan.seeds = 3;
      plan.trials = 25;
    } else if (arguments[i] == "--only" && i + 1 < arguments.size()) {
      plan.only = arguments[++i];
    } else {
      plan.prefix = arguments[i];
    }
  }
  if (plan.prefix.empty() || plan.prefix.starts_with("-")) {
    std::fputs("usage: quality_benchmark [--short] [--only TEXT] OUTPUT_PREFIX\n", stderr);
    return 2;
  }
  return vernier::quality::Main(plan);
}
