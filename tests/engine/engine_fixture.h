#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/fake_cluster.h"
#include "tests/support/fault_storage.h"
#include "tests/support/status_matchers.h"
#include "vernier/engine.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::testing {

// Random search over x in [0, 1]; each trial is a chief and a worker.
inline StudySpec AnySpec(std::int64_t trials, std::int32_t parallel) {
  StudySpec spec;
  spec.name = "study";
  spec.objectives = {{"accuracy", Goal::kMaximize}};
  spec.space = *Space::Create({{.name = "x",
                                .domain = FloatDomain{0, 1, Scale::kLinear, {}, {}},
                                .when = {},
                                .default_value = {}}});
  spec.algorithm = {.name = "random", .options = {}};
  spec.parallel = parallel;
  spec.budget.trials = trials;
  spec.job = TrainingJob{};
  spec.job->command = {"train"};
  spec.job->replicas[Role::kWorker] = ReplicaSpec{};
  return spec;
}

// One process: studies, launcher and engine over a store and a world that outlive it.
struct Process {
  Process(Storage& storage, FakeWorld& world, const Clock& clock)
      : studies(Studies::Create(storage, clock)), launcher(world) {
    EngineOptions options;
    options.metrics = [&world](const StudySpec& spec, const Trial&, const GangProgram& gang)
        -> absl::StatusOr<std::unique_ptr<MetricReader>> {
      return NewFakeReader(world, gang.id, spec.objectives.front().metric);
    };
    engine = Engine::Create(*studies, launcher, clock, options);
  }

  std::unique_ptr<Studies> studies;
  FakeLauncher launcher;
  std::unique_ptr<Engine> engine;
};

// An engine over a world of eight slots, with a clock that goes on by a second in each turn.
class EngineTest : public ::testing::Test {
 protected:
  Study Create(const StudySpec& spec) {
    auto study = process_->studies->CreateStudy(spec, {.actor = "test", .request_id = ""});
    EXPECT_TRUE(study.ok()) << study.status();
    return *study;
  }
  // Steps the engine and the world until the study has ended; gives up after many turns.
  Study RunToEnd(StudyId id) {
    for (int turn = 0; turn < 2000; ++turn) {
      const auto stepped = process_->engine->Step();
      EXPECT_TRUE(stepped.ok()) << stepped.status();
      const Study study = *process_->studies->GetStudy(id);
      if (IsFinished(study.state) || !stepped.ok()) return study;
      Turn();
    }
    ADD_FAILURE() << "the study did not end";
    return *process_->studies->GetStudy(id);
  }
  void StepAndTurn(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_THAT(process_->engine->Step(), IsOk());
      Turn();
    }
  }
  void Turn() {
    world_.Turn();
    clock_.Advance(absl::Seconds(1));
  }
  // A fresh world and store, and a process that dies at its write of that number, with the study half done; then another
  // process over what is left. False: it came to the end of the study first.
  bool DieAtWrite(int number, const StudySpec& spec, Study& study) {
    world_.jobs.clear();
    storage_ = NewMemoryStorage();
    Restart();
    study = Create(spec);
    FaultStorage dying(*storage_);
    dying.FailAfter(number);
    process_.emplace(dying, world_, clock_);
    while (dying.refused() == 0 && process_->engine->Step().ok() &&
           !IsFinished(process_->studies->GetStudy(study.id)->state)) {
      Turn();
    }
    const bool died = dying.refused() > 0;
    Restart();
    return died;
  }
  std::vector<Trial> Trials(StudyId id) { return *process_->studies->ListTrials(id); }
  void Restart() { process_.emplace(*storage_, world_, clock_); }

  ManualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeWorld world_{/*slots=*/8};
  std::unique_ptr<Storage> storage_ = NewMemoryStorage();
  std::optional<Process> process_ =
      std::optional<Process>(std::in_place, *storage_, world_, clock_);
};

}  // namespace vernier::testing
