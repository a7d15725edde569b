// What a program that embeds Vernier may rely on: no threads, no signal handlers, no children of its own accord.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/fake_cluster.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::testing {
namespace {

std::ptrdiff_t CountThreads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

std::vector<void*> SignalHandlers() {
  std::vector<void*> handlers;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    handlers.push_back(reinterpret_cast<void*>(action.sa_handler));
  }
  return handlers;
}

StudySpec SmallSpec() {
  StudySpec spec;
  spec.name = "embedded";
  spec.objectives = {{"loss", Goal::kMinimize}};
  spec.space = *Space::Create({{.name = "x",
                                .domain = FloatDomain{0, 1, Scale::kLinear, {}, {}},
                                .when = {},
                                .default_value = {}}});
  spec.parallel = 2;
  spec.budget.trials = 8;
  spec.job = TrainingJob{};
  spec.job->command = {"train"};
  return spec;
}

TEST(Embedding, ARunningEngineStartsNoThreadAndLeavesSignalsAlone) {
  const std::ptrdiff_t threads_before = CountThreads();
  const std::vector<void*> handlers_before = SignalHandlers();

  const ManualClock clock(absl::FromUnixSeconds(1'700'000'000));
  const std::unique_ptr<Storage> storage = NewMemoryStorage();
  const std::unique_ptr<Studies> studies = Studies::Create(*storage, clock);
  FakeWorld world(/*slots=*/4);
  FakeLauncher launcher(world);
  EngineOptions options;
  options.metrics = [&world](const StudySpec&, const Trial&, const GangProgram& gang)
      -> absl::StatusOr<std::unique_ptr<MetricReader>> {
    return NewFakeReader(world, gang.id, "loss");
  };
  const std::unique_ptr<Engine> engine = Engine::Create(*studies, launcher, clock, options);
  auto study = studies->CreateStudy(SmallSpec(), {.actor = "test", .request_id = ""});
  ASSERT_TRUE(study.ok()) << study.status();
  for (int turn = 0; turn < 200 && !IsFinished(study->state); ++turn) {
    ASSERT_TRUE(engine->Step().ok());
    world.Turn();
    study = studies->GetStudy(study->id);
    EXPECT_EQ(CountThreads(), threads_before);
  }

  EXPECT_EQ(study->completed, 8);
  EXPECT_EQ(SignalHandlers(), handlers_before);
}

}  // namespace
}  // namespace vernier::testing
