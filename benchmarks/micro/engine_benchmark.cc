// What an engine costs while nothing happens, and what a step costs while a suggestion is being computed.
//
// The launcher is a fake one that starts nothing and tells when something changes; the store is in memory.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "benchmark/benchmark.h"
#include "src/base/thread_pool.h"
#include "src/study/studies_impl.h"
#include "vernier/engine.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier {
namespace {

// Every gang runs, for ever.
class EndlessLauncher final : public Launcher {
 public:
  explicit EndlessLauncher(bool tells) : tells_(tells) {}
  absl::Status CheckFits(const GangRequest&) const override { return absl::OkStatus(); }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    PlacedGang placed{.placement = {}, .directory = "/nowhere"};
    for (const ReplicaRequest& replica : gang.replicas) {
      placed.placement.push_back(
          {.role = replica.role, .index = replica.index, .host = "fake", .port = 1, .gpus = {}});
    }
    return placed;
  }
  absl::Status Start(const GangProgram& gang) override {
    if (tells_) changed_(gang.id);
    return absl::OkStatus();
  }
  absl::StatusOr<GangStatus> Adopt(const GangRequest&, const PlacedGang&) override {
    return GangStatus{.state = AttemptState::kRunning};
  }
  absl::StatusOr<GangStatus> Check(const AttemptId&) override {
    return GangStatus{.state = AttemptState::kRunning};
  }
  absl::Status Stop(const AttemptId&) override { return absl::OkStatus(); }
  absl::Status Release(const AttemptId&) override { return absl::OkStatus(); }
  bool Watch(const std::function<void(const AttemptId&)>& changed) override {
    changed_ = changed;
    return tells_;
  }

 private:
  const bool tells_;
  std::function<void(const AttemptId&)> changed_;
};

// Takes until it is told to stop for the study of that seed; random points for all others.
class SlowOptimizer final : public Optimizer {
 public:
  explicit SlowOptimizer(std::unique_ptr<Optimizer> random) : random_(std::move(random)) {}
  std::string_view name() const override { return random_->name(); }
  std::string_view version() const override { return random_->version(); }
  std::string options() const override { return random_->options(); }
  absl::StatusOr<Suggestions> Suggest(const TrialLog::View&,
                                      std::span<const PendingPoint>,
                                      std::string_view,
                                      Rng,
                                      std::size_t,
                                      std::stop_token stop) const override {
    absl::Notification told;
    const std::stop_callback callback(stop, [&] { told.Notify(); });
    told.WaitForNotification();
    return absl::CancelledError("given up");
  }

 private:
  const std::unique_ptr<Optimizer> random_;
};

constexpr char kSlow[] = "slow";  // A study, and its algorithm.

AlgorithmCatalogue Algorithms() {
  AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  const absl::Status added = catalogue.AddAlgorithm(
      kSlow,
      [](const Problem& problem, const Choice&) -> absl::StatusOr<std::unique_ptr<Optimizer>> {
        auto random = AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "random"}, problem);
        if (!random.ok()) return random;
        return std::make_unique<SlowOptimizer>(*std::move(random));
      });
  if (!added.ok()) std::abort();
  return catalogue;
}

StudySpec Spec(const std::string& name, std::int32_t trials) {
  StudySpec spec;
  spec.name = name;
  spec.objectives = {{name, Goal::kMaximize}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{}}});
  spec.algorithm = {.name = name == kSlow ? kSlow : "random", .options = {}};
  spec.parallel = trials;
  spec.budget.trials = trials;
  spec.job = TrainingJob{};
  spec.job->command = {"train"};
  return spec;
}

// So many trials that run, and a study whose suggestion does not end.
struct Scene {
  Scene(std::int32_t running, bool tells) : launcher(tells) {
    const Caller caller{.actor = "benchmark", .request_id = ""};
    EngineOptions options;
    options.executor = &threads;
    engine = Engine::Create(studies, launcher, *clock, options);
    const StudyId id = studies.CreateStudy(Spec("busy", running), caller)->id;
    studies.CreateStudy(Spec(kSlow, 1), caller).IgnoreError();
    while (!AllRun(id, running)) engine->Step().IgnoreError();
    for (int step = 0; step < 10; ++step) engine->Step().IgnoreError();
  }
  bool AllRun(StudyId id, std::int32_t running) {
    if (studies.GetStudy(id)->open < running) return false;
    const absl::StatusOr<std::vector<Trial>> trials = studies.ListTrials(id);
    return trials.ok() && std::ranges::all_of(*trials, [](const Trial& trial) {
             return trial.state == TrialState::kRunning;
           });
  }

  const std::unique_ptr<Clock> clock = NewRealClock();
  const std::unique_ptr<Storage> storage = NewMemoryStorage();
  study::StudiesImpl studies{*storage, *clock, Algorithms()};
  EndlessLauncher launcher;
  base::ThreadPool threads{8};
  std::unique_ptr<Engine> engine;
};

// Steps as often as the engine wants it; the figures are the CPU's share of it and the longest step.
void BM_Running(benchmark::State& state) {
  Scene scene(static_cast<std::int32_t>(state.range(0)), state.range(1) != 0);
  constexpr absl::Duration kSpan = absl::Seconds(5);
  absl::Duration busy;
  absl::Duration longest;
  absl::Duration span;
  std::int64_t steps = 0;
  absl::Mutex never;
  for ([[maybe_unused]] auto _ : state) {
    const absl::Time end = scene.clock->Now() + kSpan;
    while (scene.clock->Now() < end) {
      const absl::Time before = scene.clock->Now();
      const absl::StatusOr<absl::Duration> pause = scene.engine->Step();
      const absl::Duration took = scene.clock->Now() - before;
      busy += took;
      longest = std::max(longest, took);
      ++steps;
      absl::MutexLock lock(&never);
      never.AwaitWithTimeout(absl::Condition(
                                 +[](bool*) { return false; }, static_cast<bool*>(nullptr)),
                             std::min(pause.value_or(absl::ZeroDuration()), absl::Seconds(1)));
    }
    span += kSpan;
  }
  state.counters["share_of_core"] = absl::FDivDuration(busy, span);
  state.counters["longest_step_ms"] = absl::ToDoubleMilliseconds(longest);
  state.counters["steps"] = static_cast<double>(steps);
}
BENCHMARK(BM_Running)
    ->ArgNames({"running", "tells"})
    ->Args({1000, 1})
    ->Args({1000, 0})
    ->Args({10000, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vernier
