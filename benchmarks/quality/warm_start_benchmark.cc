// What an earlier study is worth, where it helps and where it misleads: gp from nothing and from the trials of an earlier
// study, over paired seeds.
//
//   warm_start_benchmark [--seeds N] [--only TEXT] OUTPUT.json
//
// The earlier study: 40 trials of gp on the function itself under another seed ("same"); on one whose optimum lies
// elsewhere by 8 % of each number's range, its values in other units ("shifted"); on one mirrored in all numbers
// ("mirrored"); on the function turned upside down, so that the best trials are the worst points ("inverted"); or 40
// random points with random values ("noise"). Scores are those of search.h, at 5, 10, 20 and 40 trials, and differences
// are to cold: means over functions of means over seeds, with the standard error over functions and seeds together. They
// are of the new study's own trials, by default and with repeat_best, and of both studies together after "same".

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "benchmarks/quality/plan.h"
#include "benchmarks/quality/search.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/unit_cube.h"

namespace vernier::quality {
namespace {

constexpr std::size_t kEarlierTrials = 40;
constexpr std::size_t kTrials = 40;
const std::vector<std::size_t> kLooks = {5, 10, 20, 40};
const std::vector<std::string> kSituations = {"same", "shifted", "mirrored", "inverted", "noise"};
// After an earlier study of the same function, whose best trial counts as found.
constexpr char kTogether[] = "same, best of both";

// The function with the coordinates of its numbers moved.
Function Moved(const Function& function, double (*move)(double)) {
  Function moved = function;
  moved.regret = [function, move](const Point& point) {
    const std::vector<std::optional<double>> at = EncodePoint(function.space, point);
    std::vector<double> u;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Domain& domain = function.space.parameters()[k].domain;
      const bool is_number = !std::holds_alternative<CategoricalDomain>(domain) &&
                             !std::holds_alternative<BoolDomain>(domain);
      const double coordinate = at[k].value_or(0.5);
      u.push_back(is_number ? move(coordinate) : coordinate);
    }
    return function.regret(DecodePoint(function.space, u));
  };
  return moved;
}

Function Inverted(const Function& function) {
  Function inverted = function;
  inverted.regret = [function](const Point& point) { return -function.regret(point); };
  return inverted;
}

EarlierStudy Earlier(const Function& function, const std::string& situation, std::uint64_t seed) {
  const std::uint64_t other_seed = seed + 1000;
  const auto trials = [&](const Function& of, const std::string& algorithm) {
    return Search(of, 1.0, algorithm, other_seed, kEarlierTrials).trials;
  };
  EarlierStudy study{.name = situation, .trials = {}};
  if (situation == "shifted") {
    study.trials =
        trials(Moved(function, [](double u) { return u < 0.5 ? u + 0.08 : u - 0.08; }), "gp");
    for (Observation& trial : study.trials) trial.values[0] = 5 + 3 * trial.values[0];
  } else if (situation == "mirrored") {
    study.trials = trials(Moved(function, [](double u) { return 1 - u; }), "gp");
  } else if (situation == "inverted") {
    study.trials = trials(Inverted(function), "gp");
  } else if (situation == "noise") {
    study.trials = trials(function, "random");
    Rng rng(other_seed);
    for (Observation& trial : study.trials) trial.values[0] = rng.Normal();
  } else {
    study.trials = trials(function, "gp");
  }
  return study;
}

// The score of the earlier study's best trial, by the values that it was told.
double Found(const Function& function, double reference, const EarlierStudy& earlier) {
  const auto is_better = [](const Observation& a, const Observation& b) {
    return a.values[0] < b.values[0];
  };
  const auto best = std::ranges::min_element(earlier.trials, is_better);
  return Score(function.regret(best->point), reference);
}

// Differences to cold after each look, over functions and seeds.
struct Sample {
  std::vector<std::vector<double>> at_look = std::vector<std::vector<double>>(kLooks.size());

  void Add(const Run& run, const Run& cold) {
    for (std::size_t i = 0; i < kLooks.size(); ++i) {
      at_look[i].push_back(run.score[kLooks[i] - 1] - cold.score[kLooks[i] - 1]);
    }
  }
};

nlohmann::ordered_json Summary(const Sample& sample) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kLooks.size(); ++i) {
    const std::vector<double>& differences = sample.at_look[i];
    const auto n = static_cast<double>(differences.size());
    double mean = 0;
    for (const double d : differences) mean += d / n;
    double squares = 0;
    for (const double d : differences) squares += (d - mean) * (d - mean);
    json[std::to_string(kLooks[i])] = {{"mean", mean},
                                       {"standard_error", std::sqrt(squares / (n * (n - 1)))}};
  }
  return json;
}

// After each situation, what the study's own trials found, and what it and the earlier study found together.
struct Samples {
  std::vector<Sample> alone = std::vector<Sample>(kSituations.size());
  Sample together;  // After an earlier study of the same function.

  void Add(std::size_t situation, const Run& warm, const Run& cold, double found_before) {
    alone[situation].Add(warm, cold);
    if (kSituations[situation] != "same") return;
    Run both = warm;
    for (double& score : both.score) score = std::max(score, found_before);
    together.Add(both, cold);
  }
};

nlohmann::ordered_json Report(const std::string& name, const Samples& samples) {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < kSituations.size(); ++i) {
    json[kSituations[i]] = Summary(samples.alone[i]);
  }
  json[kTogether] = Summary(samples.together);
  fmt::print("{}\n", name);
  for (const auto& [situation, at_look] : json.items()) {
    fmt::print("  {:20}", situation);
    for (const auto& [look, at] : at_look.items()) {
      fmt::print("  {}: {:+.3f} +- {:.3f}",
                 look,
                 at["mean"].get<double>(),
                 at["standard_error"].get<double>());
    }
    fmt::print("\n");
  }
  return json;
}

int Main(const Plan& plan) {
  Samples by_default;
  Samples repeating;
  for (const Function& function : Functions()) {
    if (!IsCalled(function, plan.only)) continue;
    const double reference = ReferenceRegret(function);
    for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) {
      const Run cold = Search(function, reference, "gp", seed, kTrials);
      for (std::size_t i = 0; i < kSituations.size(); ++i) {
        const EarlierStudy earlier = Earlier(function, kSituations[i], seed);
        const double found = Found(function, reference, earlier);
        const auto warm = [&](std::map<std::string, ParameterValue> options) {
          return Search(function, reference, "gp", seed, kTrials, {earlier}, std::move(options));
        };
        by_default.Add(i, warm({}), cold, found);
        repeating.Add(i, warm({{"repeat_best", true}}), cold, found);
      }
    }
    fmt::print("{}\n", function.name);
    std::fflush(stdout);
  }
  const Problem problem{.objectives = {{.metric = "loss"}}, .earlier = {{.name = "any"}}};
  const auto gp =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "gp", .options = {}}, problem);
  nlohmann::ordered_json json = {{"gp_version", std::string(gp.value()->version())},
                                 {"seeds", plan.seeds},
                                 {"earlier_trials", kEarlierTrials}};
  json["difference_to_cold"] = Report("by default", by_default);
  json["difference_to_cold_repeat_best"] = Report("repeat_best", repeating);
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
