#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "src/study/studies_impl.h"
#include "tests/support/algorithms.h"
#include "tests/support/fault_storage.h"
#include "tests/support/scripted_optimizer.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::study {

inline Parameter Float(std::string name, double lower, double upper) {
  return {.name = std::move(name), .domain = FloatDomain{.lower = lower, .upper = upper}};
}
inline Parameter Choices(std::string name, std::vector<ParameterValue> values) {
  return {.name = std::move(name), .domain = CategoricalDomain{.values = std::move(values)}};
}
inline Space SpaceOf(std::vector<Parameter> parameters) {
  return *Space::Create(std::move(parameters));
}

// A study over x in [0, 1], random search, driven by clients.
inline StudySpec ClientSpec(std::string name = "digits") {
  StudySpec spec;
  spec.name = std::move(name);
  spec.objectives = {{.metric = "accuracy", .goal = Goal::kMaximize}};
  spec.space = SpaceOf({Float("x", 0, 1)});
  spec.algorithm = {.name = "random", .options = {}};
  spec.parallel = 4;
  spec.seed = 7;
  return spec;
}

// The same with several metrics, curves and short leases, for random calls.
inline StudySpec WorkloadSpec() {
  StudySpec spec = ClientSpec();
  spec.stopping = {.name = "median", .options = {}};
  spec.lease.ttl = absl::Seconds(5);
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  spec.outcome_constraints = {"latency_ms < 30 or accuracy > 0.5"};
  return spec;
}

// As ClientSpec, whose trials an engine launches.
inline StudySpec JobSpec(std::string name = "digits") {
  StudySpec spec = ClientSpec(std::move(name));
  spec.job.emplace();
  spec.job->command = {"true"};
  return spec;
}

// How often studies of tests store a snapshot: as the library does, unless the environment has another number of events. All
// tests run with either, since nobody must see a difference.
inline std::int64_t SnapshotInterval() {
  const char* const interval = std::getenv("VERNIER_TEST_SNAPSHOT_INTERVAL");
  return interval == nullptr ? StudiesImpl::kSnapshotInterval : std::atoll(interval);
}

// Studies over a memory storage that can be told to fail, with a clock that stands still.
class StudyFixture : public ::testing::Test {
 protected:
  static Caller As(std::string actor, std::string request_id = "") {
    return {.actor = std::move(actor), .request_id = std::move(request_id)};
  }

  Study Create(const StudySpec& spec) {
    const absl::StatusOr<Study> study = studies_->CreateStudy(spec, As("test"));
    EXPECT_THAT(study, testing::IsOk());
    return study.value_or(Study());
  }
  // One trial leased to `holder`.
  Trial SuggestOne(StudyId id, const std::string& holder = "w1") {
    const auto trials = studies_->Suggest(id, 1, holder, As(holder), {});
    EXPECT_THAT(trials, testing::IsOk());
    return trials.ok() && !trials->empty() ? trials->front() : Trial();
  }
  static LeaseToken TokenOf(const Trial& trial) {
    return {.holder = trial.lease->holder, .token = trial.lease->token};
  }
  absl::StatusOr<Trial> Complete(StudyId id, const Trial& trial, double accuracy) {
    return studies_->Complete({id, trial.number},
                              {.metrics = {{"accuracy", accuracy}}},
                              TokenOf(trial),
                              As(trial.lease->holder));
  }
  static Measurement Measured(std::int64_t step, double accuracy) {
    return {.step = step,
            .elapsed = absl::Seconds(step),
            .time = absl::FromUnixSeconds(1'700'000'000 + step),
            .metrics = {{"accuracy", accuracy}},
            .source = "client"};
  }
  absl::StatusOr<Studies::Reported> Report(StudyId id,
                                           const Trial& trial,
                                           std::int64_t step,
                                           double accuracy) {
    return studies_->Report(
        {id, trial.number}, {Measured(step, accuracy)}, TokenOf(trial), As(trial.lease->holder));
  }
  Trial Get(StudyId id, TrialNumber trial) { return studies_->GetTrial({id, trial}).value(); }
  Study Get(StudyId id) { return studies_->GetStudy(id).value(); }
  std::vector<Event> Log(StudyId id) {
    return studies_->ReadEvents(id, EventSeq(0), 1 << 20).value();
  }
  std::vector<std::string> Kinds(StudyId id, EventSeq after = EventSeq(0)) {
    std::vector<std::string> kinds;
    const std::vector<Event> events = studies_->ReadEvents(id, after, 1 << 20).value();
    for (const Event& event : events) kinds.emplace_back(EventKind(event.payload));
    return kinds;
  }
  // As after a restart: nothing left but the storage.
  void Restart() {
    studies_ = std::make_unique<StudiesImpl>(storage_, clock_, algorithms_, snapshot_interval_);
  }
  // From here on, and for studies loaded from here on, `script` is the algorithm.
  void UseScript(testing::ScriptedOptimizer::Script script, std::string version = "1") {
    algorithms_ =
        testing::WithOptimizer(algorithms_, [script, version](const Problem&, const Choice&) {
          return std::make_unique<testing::ScriptedOptimizer>(version, script);
        });
    Restart();
  }

  ManualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  std::unique_ptr<Storage> memory_ = NewMemoryStorage();
  testing::FaultStorage storage_{*memory_};
  AlgorithmCatalogue algorithms_ = AlgorithmCatalogue::BuiltIn();
  std::int64_t snapshot_interval_ = SnapshotInterval();
  std::unique_ptr<StudiesImpl> studies_ =
      std::make_unique<StudiesImpl>(storage_, clock_, algorithms_, snapshot_interval_);
};

}  // namespace vernier::study
