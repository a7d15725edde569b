// What one suggestion costs: each registered algorithm, ten float parameters, n trials finished, the state of the call
// before. Run it alone on an idle core: suggest_benchmark --benchmark_out=FILE --benchmark_out_format=json

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"
#include "vernier/registry.h"

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

// So many calls one after the other are timed in turn: an optimiser may do one thing at one trial and another at the next.
constexpr std::size_t kTurns = 2;

// Each call that is timed has one trial more than the one that made its state, as in a study that asks one at a time.
void Suggest(benchmark::State& state, const std::string& algorithm) {
  const Problem problem = TenFloats();
  const auto optimizer = NewOptimizer({.name = algorithm, .options = {}}, problem);
  if (!optimizer.ok()) return state.SkipWithError("no such algorithm");
  const auto n = static_cast<std::size_t>(state.range(0));
  const TrialLog::View trials = RandomTrials(problem, state.range(0) + kTurns);
  std::vector<std::string> states(kTurns);  // After the call with n, n + 1 … trials, each twice.
  for (std::size_t call = 0; call < 2 * kTurns; ++call) {
    const std::size_t turn = call % kTurns;
    const std::string& before = states[(call + kTurns - 1) % kTurns];
    auto suggestions = (*optimizer)->Suggest(trials.Prefix(n + turn), {}, before, Rng(2), 1, {});
    if (!suggestions.ok()) return state.SkipWithError("no first suggestion");
    states[turn] = std::move(suggestions->state);
  }
  std::uint64_t stream = 3;
  for (auto _ : state) {
    const std::size_t turn = stream % kTurns;
    const TrialLog::View finished = trials.Prefix(n + turn + 1);
    auto suggestions = (*optimizer)->Suggest(finished, {}, states[turn], Rng(stream++), 1, {});
    if (!suggestions.ok()) return state.SkipWithError("no suggestion");
    benchmark::DoNotOptimize(suggestions);
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::string& name : AlgorithmNames()) {
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
