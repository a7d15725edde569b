// How good the points are: each algorithm on each function over paired seeds (the same seed gives the same noise).
//
//   quality_benchmark [--short] OUTPUT_PREFIX     writes OUTPUT_PREFIX.json and OUTPUT_PREFIX.svg
//
// --short: 5 seeds of 25 trials instead of 20 of 50.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "benchmarks/quality/regret_chart.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/ask_tell.h"

namespace vernier::quality {
namespace {

const std::vector<std::string> kAlgorithms = {"gp", "quasi-random", "random"};

struct Plan {
  std::uint64_t seeds = 20;
  int trials = 50;
};

// The least regret so far, after each trial.
std::vector<double> BestRegret(const Function& function,
                               const std::string& algorithm,
                               std::uint64_t seed,
                               int trials) {
  const Problem problem{function.space, {{.metric = "loss", .goal = Goal::kMinimize}}};
  AskTell study = AskTell::Create(problem, {.name = algorithm, .options = {}}, seed).value();
  Rng noise = Rng(seed).Fork(0x6e6f697365);
  std::vector<double> best;
  for (int i = 0; i < trials; ++i) {
    const AskTell::Asked asked = study.Ask().value().front();
    const double regret = function.regret(asked.suggestion.point);
    const absl::Status told = study.Tell(asked.trial, {regret + function.noise * noise.Normal()});
    if (!told.ok()) break;
    best.push_back(best.empty() ? regret : std::min(best.back(), regret));
  }
  return best;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

struct Result {
  Curve median;
  std::vector<double> final_regret;  // By seed.
};

Result Run(const Function& function, const std::string& algorithm, const Plan& plan) {
  std::vector<std::vector<double>> runs;
  for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) {
    runs.push_back(BestRegret(function, algorithm, seed, plan.trials));
  }
  Result result{.median = {.algorithm = algorithm, .regret = {}}, .final_regret = {}};
  for (std::size_t t = 0; t < static_cast<std::size_t>(plan.trials); ++t) {
    std::vector<double> at;
    for (const std::vector<double>& run : runs) at.push_back(run[t]);
    result.median.regret.push_back(Median(at));
    if (t + 1 == static_cast<std::size_t>(plan.trials)) result.final_regret = at;
  }
  return result;
}

int Main(const Plan& plan, const std::string& prefix) {
  nlohmann::ordered_json json = {{"seeds", plan.seeds}, {"trials", plan.trials}};
  std::vector<Panel> panels;
  for (const Function& function : Functions()) {
    Panel panel{.title = function.name, .curves = {}};
    for (const std::string& algorithm : kAlgorithms) {
      Result result = Run(function, algorithm, plan);
      fmt::print("{:16} {:13} median regret {:.3g}\n",
                 function.name,
                 algorithm,
                 result.median.regret.back());
      json["functions"][function.name][algorithm] = {{"median_regret", result.median.regret},
                                                     {"final_regret", result.final_regret}};
      panel.curves.push_back(std::move(result.median));
    }
    panels.push_back(std::move(panel));
  }
  std::ofstream(prefix + ".json") << json.dump(1) << "\n";
  std::ofstream svg(prefix + ".svg");
  svg << RegretChart(panels);
  return svg.good() ? 0 : 1;
}

}  // namespace
}  // namespace vernier::quality

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const bool is_short = arguments.size() == 2 && arguments[0] == "--short";
  if (arguments.empty() || arguments.size() > 2 || (arguments.size() == 2 && !is_short)) {
    std::fputs("usage: quality_benchmark [--short] OUTPUT_PREFIX\n", stderr);
    return 2;
  }
  vernier::quality::Plan plan;
  if (is_short) plan = {.seeds = 5, .trials = 25};
  return vernier::quality::Main(plan, std::string(arguments.back()));
}
