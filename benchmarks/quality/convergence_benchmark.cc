// What a study's convergence rule saves, and what it loses: gp without the rule, and where the rule would have ended it.
//
//   convergence_benchmark [--seeds N] [--only TEXT] OUTPUT.json
//
// A study of 100 trials converges when each of so many proposals in a row is expected to improve the objective by less than
// the tolerance (Convergence). Tolerances are shares of the median regret of a random point, 1. Saved: of 100 trials, those
// after the one at which the study converged, none where it did not. Lost: by how much the best point at 100 trials is
// better than the best one at that trial, in the tolerance's unit, down to regrets of 0.0001. Means are over functions of
// means over seeds.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "benchmarks/quality/plan.h"
#include "benchmarks/quality/search.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/study.h"

namespace vernier::quality {
namespace {

constexpr std::size_t kTrials = 100;
constexpr double kTolerances[] = {1e-1, 1e-2, 1e-3, 1e-4};

// How many trials the study has had when it converges; all of them if it does not.
std::size_t ConvergedAt(const Run& run, double tolerance) {
  std::int64_t idle = 0;
  for (std::size_t t = 0; t < run.expected_improvement.size(); ++t) {
    if (!run.expected_improvement[t].has_value()) continue;
    idle = *run.expected_improvement[t] < tolerance ? idle + 1 : 0;
    if (idle == kConvergedAfter) return t + 1;
  }
  return run.score.size();
}

double RegretOf(double score) { return std::pow(10.0, -4.0 * score); }

// Means of a rule over functions.
struct Outcome {
  double converged = 0;  // Share of the studies.
  double saved = 0;      // Share of the trials.
  double lost = 0;
  double lost_more = 0;  // Share of the studies that lost more than ten tolerances.
  double functions = 0;

  void Add(const Outcome& one) {
    converged += one.converged;
    saved += one.saved;
    lost += one.lost;
    lost_more += one.lost_more;
    ++functions;
  }
  nlohmann::ordered_json Means() const {
    return {{"functions", functions},
            {"converged", converged / functions},
            {"saved", saved / functions},
            {"lost", lost / functions},
            {"lost_more_than_ten_tolerances", lost_more / functions}};
  }
};

Outcome OnFunction(const std::vector<Run>& runs, double reference, double tolerance) {
  const auto seeds = static_cast<double>(runs.size());
  Outcome outcome;
  for (const Run& run : runs) {
    const std::size_t end = ConvergedAt(run, tolerance * reference);
    const double lost = RegretOf(run.score[end - 1]) - RegretOf(run.score.back());
    outcome.converged += (end < kTrials ? 1.0 : 0.0) / seeds;
    outcome.saved += static_cast<double>(kTrials - end) / kTrials / seeds;
    outcome.lost += lost / seeds;
    outcome.lost_more += (lost > 10 * tolerance ? 1.0 : 0.0) / seeds;
  }
  return outcome;
}

int Main(const Plan& plan) {
  const auto gp = AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "gp", .options = {}},
                                                             {.objectives = {{.metric = "loss"}}});
  nlohmann::ordered_json json = {{"gp_version", std::string(gp.value()->version())},
                                 {"seeds", plan.seeds},
                                 {"trials", kTrials}};
  std::map<std::string, std::map<std::string, Outcome>> by_tolerance;
  for (const Function& function : Functions()) {
    if (!IsCalled(function, plan.only)) continue;
    const double reference = ReferenceRegret(function);
    std::vector<Run> runs;
    for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) {
      runs.push_back(Search(function, reference, "gp", seed, kTrials));
    }
    for (const double tolerance : kTolerances) {
      const Outcome outcome = OnFunction(runs, reference, tolerance);
      std::map<std::string, Outcome>& families = by_tolerance[fmt::format("{:g}", tolerance)];
      families["all"].Add(outcome);
      families[function.family].Add(outcome);
    }
    fmt::print("{}\n", function.name);
    std::fflush(stdout);
  }
  for (const double tolerance : kTolerances) {
    const std::string name = fmt::format("{:g}", tolerance);
    for (const auto& [family, outcome] : by_tolerance[name]) {
      json["tolerances"][name][family] = outcome.Means();
    }
    fmt::print("tolerance {}: {}\n", name, by_tolerance[name]["all"].Means().dump());
  }
  std::ofstream file(plan.output);
  file << json.dump(1) << "\n";
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace vernier::quality

int main(int argc, char** argv) {
  const auto plan = vernier::quality::ReadPlan(argc, argv);
  return plan ? vernier::quality::Main(*plan) : 2;
}
