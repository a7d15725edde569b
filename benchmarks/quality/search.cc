#include "benchmarks/quality/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "vernier/ask_tell.h"
#include "vernier/core/unit_cube.h"

namespace vernier::quality {
namespace {

constexpr double kLeastRegret = 1e-4;

}  // namespace

bool IsCalled(const Function& function, const std::string& text) {
  return function.name.find(text) != std::string::npos ||
         function.family.find(text) != std::string::npos;
}

double ReferenceRegret(const Function& function) {
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

Run Search(const Function& function,
           double reference,
           const std::string& algorithm,
           std::uint64_t seed,
           std::size_t trials,
           std::vector<EarlierStudy> earlier,
           std::map<std::string, ParameterValue> options) {
  Problem problem{.space = function.space,
                  .objectives = {{.metric = "loss", .goal = Goal::kMinimize}},
                  .earlier = std::move(earlier)};
  const vernier::Choice choice{.name = algorithm, .options = std::move(options)};
  AskTell study = AskTell::Create(std::move(problem), choice, seed).value();
  Rng noise = Rng(seed).Fork(0x6e6f697365);
  Run run;
  double least_told = 0;
  while (run.score.size() < trials) {
    const auto before = std::chrono::steady_clock::now();
    const auto asked = study.Ask();
    run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    if (!asked.ok()) break;  // A finite space that has no more points.
    const AskTell::Asked& trial = asked->front();
    const double regret = function.regret(trial.suggestion.point);
    const double told = regret + function.noise * noise.Normal();
    if (!study.Tell(trial.trial, {told}).ok()) break;
    run.expected_improvement.push_back(trial.suggestion.expected_improvement);
    run.trials.push_back({.trial = trial.trial, .point = trial.suggestion.point, .values = {told}});
    const bool is_best = run.score.empty() || told < least_told;
    if (is_best) least_told = told;
    run.score.push_back(is_best ? Score(regret, reference) : run.score.back());
  }
  run.score.resize(trials, run.score.back());
  return run;
}

}  // namespace vernier::quality
