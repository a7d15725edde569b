// How good the points are: each algorithm on each function over paired seeds (the same seed gives the same noise).
//
//   quality_benchmark [--short|--long] [--only TEXT] OUTPUT_PREFIX     writes OUTPUT_PREFIX.json and OUTPUT_PREFIX.svg
//
// --short: 3 seeds of 25 trials instead of 20 of 60.  --long: 10 seeds of 200 trials, of gp alone.  --only: functions whose
// name or family holds TEXT.
//
// Scores are those of search.h. Means are over functions of means over seeds.

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
#include "benchmarks/quality/search.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace vernier::quality {
namespace {

struct Plan {
  std::vector<std::string> algorithms = {"gp", "quasi-random", "random"};
  std::uint64_t seeds = 20;
  std::size_t trials = 60;
  std::string only;
  std::string prefix;
};

// Scores of one algorithm on one function: the means over the seeds after each trial, and those at the end by seed.
struct Result {
  std::vector<double> mean;
  std::vector<double> last;
  double seconds_per_ask = 0;
};

Result Average(const Function& function, const std::string& algorithm, const Plan& plan) {
  const double reference = ReferenceRegret(function);
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

// By family and algorithm: the sum of the mean scores after each trial.
struct Family {
  std::map<std::string, std::vector<double>> sums;
  double functions = 0;
};

Panel PanelOf(const std::string& name, const Family& family, const Plan& plan) {
  Panel panel{.title = name, .curves = {}};
  for (const std::string& algorithm : plan.algorithms) {
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
    if (!IsCalled(function, plan.only)) continue;
    Family& family = families[function.family];
    ++family.functions;
    fmt::print("{:24} {:12}", function.name, function.family);
    for (const std::string& algorithm : plan.algorithms) {
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
  for (const auto& [name, family] : families) panels.push_back(PanelOf(name, family, plan));
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
    } else if (arguments[i] == "--long") {
      plan.algorithms = {"gp"};
      plan.seeds = 10;
      plan.trials = 200;
    } else if (arguments[i] == "--only" && i + 1 < arguments.size()) {
      plan.only = arguments[++i];
    } else {
      plan.prefix = arguments[i];
    }
  }
  if (plan.prefix.empty() || plan.prefix.starts_with("-")) {
    std::fputs("usage: quality_benchmark [--short|--long] [--only TEXT] OUTPUT_PREFIX\n", stderr);
    return 2;
  }
  return vernier::quality::Main(plan);
}
