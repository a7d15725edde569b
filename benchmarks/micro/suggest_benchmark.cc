// What one suggestion costs: each registered algorithm, ten float parameters, n trials finished, the state of the call
// before. Run it alone on an idle core: suggest_benchmark --benchmark_out=FILE --benchmark_out_format=json

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/rng.h"
#include "vernier/core/study.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

constexpr int kDimensions = 10;

Problem TenFloats() {
  std::vector<Parameter> parameters;
  for (int k = 0; k < kDimensions; ++k) {
    FloatDomain domain{.lower = 0, .upper = 1};
    domain.points = 10;  // For the grid.
    parameters.push_back({.name = "x" + std::to_string(k), .domain = domain});
  }
  return {.space = Space::Create(std::move(parameters)).value(),
          .objectives = {{.metric = "loss", .goal = Goal::kMinimize}}};
}

// A bowl whose axes matter unequally, off the centre.
double Loss(const std::vector<double>& u) {
  double loss = 0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const double away = u[k] - 0.3;
    loss += away * away / static_cast<double>(k + 1);
  }
  return loss;
}

TrialLog::View RandomTrials(const Problem& problem, std::int64_t n) {
  Rng rng(1);
  TrialLog trials(problem);
  std::vector<double> u(kDimensions);
  for (std::int64_t i = 1; i <= n; ++i) {
    for (double& coordinate : u) coordinate = rng.Uniform();
    const Point point = DecodePoint(problem.space, u);
    if (!trials.Append({TrialNumber(i), point, Outcome::kCompleted, {Loss(u)}}).ok()) std::abort();
  }
  return trials.Snapshot();
}

// Calls that are timed before the study begins again with n trials: what an optimiser does now and then is in the mean as
// often as in a study.
constexpr std::size_t kStretch = 20;

// A study in which one trial ends after the other; those that end are not those that were proposed.
class Study {
 public:
  Study(const Problem& problem, const std::string& algorithm, std::size_t n)
      : problem_(problem),
        algorithm_{.name = algorithm, .options = {}},
        n_(n),
        trials_(RandomTrials(problem, static_cast<std::int64_t>(n + kStretch))) {}

  // To n trials, and what an optimiser remembers of them. The first time some calls make the state of a study that came to them.
  bool Begin() {
    auto optimizer = AlgorithmCatalogue::BuiltIn().NewOptimizer(algorithm_, problem_);
    if (!optimizer.ok()) return false;
    optimizer_ = *std::move(optimizer);
    const std::size_t warm_up = state_at_n_ ? 1 : kWarmUp;
    finished_ = n_ - warm_up;
    for (std::size_t call = 0; call < warm_up; ++call) {
      if (!Suggest()) return false;
    }
    if (!state_at_n_) state_at_n_ = state_;
    state_ = *state_at_n_;
    return true;
  }
  bool is_over() const { return finished_ == n_ + kStretch; }

  bool Suggest() {
    ++finished_;
    auto next = optimizer_->Suggest(trials_.Prefix(finished_), {}, state_, Rng(finished_), 1, {});
    if (!next.ok()) return false;
    benchmark::DoNotOptimize(next->points.front());
    state_ = std::move(next->state);
    return true;
  }

 private:
  static constexpr std::size_t kWarmUp = 4;

  const Problem& problem_;
  const Choice algorithm_;
  const std::size_t n_;
  const TrialLog::View trials_;
  std::unique_ptr<Optimizer> optimizer_;
  std::size_t finished_ = 0;
  std::string state_;
  std::optional<std::string> state_at_n_;
};

void Suggest(benchmark::State& state, const std::string& algorithm) {
  const Problem problem = TenFloats();
  Study study(problem, algorithm, static_cast<std::size_t>(state.range(0)));
  if (!study.Begin()) return state.SkipWithError("no first suggestion");
  for ([[maybe_unused]] auto _ : state) {
    if (study.is_over()) {
      state.PauseTiming();
      if (!study.Begin()) return state.SkipWithError("no first suggestion");
      state.ResumeTiming();
    }
    if (!study.Suggest()) return state.SkipWithError("no suggestion");
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::string& name : AlgorithmCatalogue::BuiltIn().AlgorithmNames()) {
    const auto timed = [name](benchmark::State& state) { Suggest(state, name); };
    benchmark::RegisterBenchmark(("Suggest/" + name).c_str(), timed)
        ->ArgName("n")
        ->Arg(10)
        ->Arg(20)
        ->Arg(100)
        ->Arg(1000)
        ->Arg(10000)
        ->Arg(1000000)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace vernier
