#include "vernier/engine.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/fault_storage.h"
#include "tests/support/status_matchers.h"

namespace vernier::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(EngineTest, RunsAStudyToItsBudgetWithSoManyTrialsAtOnce) {
  const Study study = Create(AnySpec(/*trials=*/7, /*parallel=*/3));
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  EXPECT_EQ(ended.completed, 7);
  EXPECT_EQ(world_.jobs.size(), 7u);
  EXPECT_EQ(world_.most_used(), 6);  // Three gangs of two.
}

TEST_F(EngineTest, TakesTheLastReportedValueAsTheTrialsResult) {
  world_.script = [](const GangProgram&) { return Script{.values = {0.9, 0.3}, .message = ""}; };
  const Study study = Create(AnySpec(1, 1));
  RunToEnd(study.id);
  EXPECT_EQ(Trials(study.id)[0].final_metrics.at("accuracy"), 0.3);
}

TEST_F(EngineTest, FailsATrialWithoutObjectiveAndSaysWhatItPrinted) {
  world_.script = [](const GangProgram&) { return Script{.values = {}, .message = ""}; };
  const Study study = Create(AnySpec(1, 1));
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure, FailureClass::kNoMetric);
  EXPECT_THAT(trial.message, AllOf(HasSubstr("'accuracy'"), HasSubstr("hello | goodbye")));
}

TEST_F(EngineTest, StoresMoreMeasurementsAtOnceThanOneCallTakes) {
  constexpr std::size_t kValues = 2500;
  world_.script = [](const GangProgram&) {
    return Script{.values = std::vector<double>(kValues, 0.5), .at_once = kValues};
  };
  const Study study = RunToEnd(Create(AnySpec(2, 1)).id);
  EXPECT_EQ(study.state, StudyState::kCompleted);
  for (const Trial& trial : Trials(study.id)) {
    EXPECT_EQ(trial.state, TrialState::kCompleted);
    EXPECT_EQ(trial.measurements, static_cast<std::int64_t>(kValues));
  }
}

// First trials that diverge tell of their points, not of the job: the study goes on.
TEST_F(EngineTest, TrialsThatDivergeFailAndTheStudyGoesOn) {
  world_.script = [](const GangProgram& gang) {
    const bool good = gang.id.trial.number.value() > 3;
    return Script{.values = {0.5, good ? 0.6 : std::numeric_limits<double>::quiet_NaN()},
                  .message = ""};
  };
  const Study study = RunToEnd(Create(AnySpec(5, 1)).id);
  EXPECT_EQ(study.state, StudyState::kCompleted);
  EXPECT_EQ(study.failed, 3);
  EXPECT_EQ(study.best, TrialNumber(4));
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.failure, FailureClass::kDiverged);
  EXPECT_EQ(trial.measurements, 2);
}

TEST_F(EngineTest, FailsATrialThatReportsSomeObjectivesOnlyAndNamesTheOthers) {
  StudySpec spec = AnySpec(1, 1);
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  spec.objectives.push_back({.metric = "memory_mb", .goal = Goal::kMinimize});
  const Study study = Create(spec);
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.failure, FailureClass::kNoMetric);
  EXPECT_THAT(trial.message,
              HasSubstr("ended without reporting its objectives 'latency_ms', 'memory_mb';"));
}

TEST_F(EngineTest, RecordsHowAJobFailed) {
  world_.script = [](const GangProgram&) {
    return Script{.values = {0.1},
                  .end = AttemptState::kFailed,
                  .failure = FailureClass::kUserError,
                  .message = "the replica chief 0 exited with a non-zero status of 3"};
  };
  const Study study = Create(AnySpec(1, 1));
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure, FailureClass::kUserError);
  EXPECT_THAT(trial.message, HasSubstr("status of 3"));
  EXPECT_EQ(trial.attempts.back().state, AttemptState::kFailed);
}

TEST_F(EngineTest, StopsAnUnpromisingTrialAndGivesItsRoomToTheNext) {
  world_.script = [](const GangProgram& gang) {
    const bool good = gang.id.trial.number.value() <= 5;
    return Script{.values = std::vector<double>(20, good ? 0.9 : 0.1), .message = ""};
  };
  StudySpec spec = AnySpec(8, 1);
  spec.stopping = {.name = "median", .options = {}};
  const Study study = Create(spec);
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  for (const Trial& trial : Trials(study.id)) {
    EXPECT_EQ(trial.state, TrialState::kCompleted) << trial.number.value();
    EXPECT_EQ(trial.stop.has_value(), trial.number.value() > 5) << trial.number.value();
    EXPECT_EQ(trial.attempts.back().state,
              trial.number.value() > 5 ? AttemptState::kStopped : AttemptState::kSucceeded);
    EXPECT_LE(trial.measurements, trial.number.value() > 5 ? 10 : 20);
  }
}

// All that it reported is read at once, after its program has ended.
TEST_F(EngineTest, ATrialThatEndedBeforeItCouldBeStoppedWasNotStopped) {
  world_.script = [](const GangProgram& gang) {
    const bool good = gang.id.trial.number.value() <= 5;
    return Script{
        .values = std::vector<double>(20, good ? 0.9 : 0.1), .message = "", .at_once = 20};
  };
  StudySpec spec = AnySpec(8, 1);
  spec.stopping = {.name = "median", .options = {}};
  const Study study = Create(spec);
  for (int turn = 0; turn < 100; ++turn) {
    Turn();
    Turn();
    StepAndTurn(1);
  }
  EXPECT_EQ(process_->studies->GetStudy(study.id)->completed, 8);
  for (const Trial& trial : Trials(study.id)) {
    EXPECT_FALSE(trial.stop.has_value()) << trial.number.value();
    EXPECT_EQ(trial.measurements, 20) << trial.number.value();
    EXPECT_EQ(trial.attempts.back().state, AttemptState::kSucceeded);
    const bool was_told = trial.number.value() > 5;
    EXPECT_THAT(trial.message,
                StartsWith(was_told ? "ran to its end before it could be stopped: " : ""));
  }
  const auto report = process_->studies->Replay(study.id);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->stops, 3);
  EXPECT_THAT(report->problems, IsEmpty());
}

TEST_F(EngineTest, WaitsForRoomAndSaysNothingOfFailure) {
  const Study study = Create(AnySpec(/*trials=*/10, /*parallel=*/10));  // Room for four gangs.
  StepAndTurn(1);
  int queued = 0;
  for (const Trial& trial : Trials(study.id)) queued += trial.state == TrialState::kQueued ? 1 : 0;
  EXPECT_EQ(queued, 6);
  EXPECT_EQ(RunToEnd(study.id).completed, 10);
  EXPECT_EQ(world_.most_used(), 8);
}

TEST_F(EngineTest, APausedStudyStartsNothingAndLetsRunningTrialsEnd) {
  const Study study = Create(AnySpec(6, 2));
  StepAndTurn(2);
  ASSERT_THAT(process_->studies->Pause(study.id, {.actor = "test", .request_id = ""}), IsOk());
  StepAndTurn(20);
  EXPECT_EQ(Trials(study.id).size(), 2u);
  EXPECT_EQ(process_->studies->GetStudy(study.id)->completed, 2);
  ASSERT_THAT(process_->studies->Resume(study.id, {.actor = "test", .request_id = ""}), IsOk());
  EXPECT_EQ(RunToEnd(study.id).completed, 6);
}

TEST_F(EngineTest, AStoppedStudyTakesItsGangsDown) {
  world_.script = [](const GangProgram&) {
    return Script{.values = std::vector<double>(1000, 0.5), .message = ""};
  };
  const Study study = Create(AnySpec(6, 2));
  StepAndTurn(5);
  ASSERT_THAT(process_->studies->Stop(study.id, "enough", {.actor = "test", .request_id = ""}),
              IsOk());
  EXPECT_EQ(RunToEnd(study.id).state, StudyState::kCancelled);
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.state, AttemptState::kStopped);
  for (const Trial& trial : Trials(study.id)) EXPECT_EQ(trial.state, TrialState::kCancelled);
}

TEST_F(EngineTest, ADeletedStudyTakesItsGangsDown) {
  world_.script = [](const GangProgram&) {
    return Script{.values = std::vector<double>(1000, 0.5), .message = ""};
  };
  const Study study = Create(AnySpec(6, 2));
  StepAndTurn(5);
  ASSERT_THAT(process_->studies->Delete(study.spec.name, /*force=*/true, {}), IsOk());
  StepAndTurn(5);
  ASSERT_EQ(world_.jobs.size(), 2u);
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.state, AttemptState::kStopped);
}

TEST_F(EngineTest, StopsOneTrialWhenAUserSaysSo) {
  world_.script = [](const GangProgram&) {
    return Script{.values = std::vector<double>(30, 0.5), .message = ""};
  };
  const Study study = Create(AnySpec(2, 1));
  StepAndTurn(5);
  const TrialId first{study.id, TrialNumber(1)};
  ASSERT_THAT(process_->studies->StopTrial(first, "boring", {.actor = "test", .request_id = ""}),
              IsOk());
  EXPECT_EQ(RunToEnd(study.id).state, StudyState::kCompleted);
  EXPECT_EQ(world_.jobs.at({first, AttemptNumber(1)}).state, AttemptState::kStopped);
  EXPECT_EQ(Trials(study.id)[0].state, TrialState::kCompleted);  // It keeps its last measurement.
}

TEST_F(EngineTest, ATrialThatIsStoppedWhileNoEngineLooksKeepsWhatItReported) {
  world_.script = [](const GangProgram&) {
    Script script{.values = {}, .message = ""};
    for (int i = 1; i <= 30; ++i) script.values.push_back(0.01 * i);
    return script;
  };
  const Study study = Create(AnySpec(1, 1));
  StepAndTurn(5);
  const std::int64_t known = Trials(study.id)[0].measurements;
  for (int i = 0; i < 10; ++i) Turn();
  const std::size_t reported = world_.jobs.begin()->second.reported;
  ASSERT_GT(static_cast<std::int64_t>(reported), known);
  Restart();
  const TrialId trial{study.id, TrialNumber(1)};
  ASSERT_THAT(process_->studies->StopTrial(trial, "enough", {.actor = "test", .request_id = ""}),
              IsOk());
  Restart();
  EXPECT_EQ(RunToEnd(study.id).state, StudyState::kCompleted);
  const Trial ended = Trials(study.id)[0];
  EXPECT_GE(ended.measurements, static_cast<std::int64_t>(reported));
  EXPECT_GE(ended.final_metrics.at("accuracy"), 0.01 * static_cast<double>(reported) - 1e-9);
}

TEST_F(EngineTest, TakesDownWhatRunsOfATrialThatAUserEndedBeforeItsStudyEnds) {
  for (const bool dies : {false, true}) {
    world_.jobs.clear();
    storage_ = NewMemoryStorage();
    Restart();
    world_.script = [](const GangProgram&) {
      return Script{.values = std::vector<double>(1000, 0.5), .message = ""};
    };
    const Study study = Create(AnySpec(1, 1));
    StepAndTurn(3);
    const TrialId trial{study.id, TrialNumber(1)};
    ASSERT_THAT(process_->studies->Fail(
                    trial, FailureClass::kUserError, "hopeless", std::nullopt, {.actor = "test"}),
                IsOk());
    if (dies) Restart();
    EXPECT_EQ(process_->studies->GetStudy(study.id)->state, StudyState::kActive);
    EXPECT_EQ(RunToEnd(study.id).state, StudyState::kFailed);
    EXPECT_EQ(world_.jobs.at({trial, AttemptNumber(1)}).state, AttemptState::kStopped);
    EXPECT_EQ(Trials(study.id)[0].state, TrialState::kFailed);
    EXPECT_EQ(Trials(study.id)[0].attempts.back().state, AttemptState::kStopped);
  }
}

TEST_F(EngineTest, ARestartedEngineAdoptsWhatRuns) {
  world_.script = [](const GangProgram&) {
    return Script{.values = {0.1, 0.2, 0.3, 0.4}, .message = ""};
  };
  const Study study = Create(AnySpec(5, 2));
  for (int turn = 0; turn < 60; ++turn) {
    StepAndTurn(1);
    Restart();
  }
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.completed, 5);
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.starts, 1);
  for (const Trial& trial : Trials(study.id)) {
    EXPECT_EQ(trial.attempts.size(), 1u);
    EXPECT_EQ(trial.measurements, 4);  // Read again after each restart, counted once.
  }
}

// Dies at the nth write, for every n: nothing is started twice, nothing is lost, the budget is exact.
TEST_F(EngineTest, SurvivesACrashAtEveryWrite) {
  int crash_at = 0;
  for (bool crashed = true; crashed; ++crash_at) {
    ASSERT_LT(crash_at, 500);
    Study study;
    crashed = DieAtWrite(crash_at, AnySpec(4, 2), study);
    const Study ended = RunToEnd(study.id);
    ASSERT_EQ(ended.state, StudyState::kCompleted) << "crash at write " << crash_at;
    ASSERT_EQ(ended.completed, 4) << "crash at write " << crash_at;
    ASSERT_EQ(world_.jobs.size(), 4u) << "crash at write " << crash_at;
    for (const auto& [id, job] : world_.jobs) ASSERT_EQ(job.starts, 1);
    ASSERT_OK_AND_ASSIGN(const ReplayReport report, process_->studies->Replay(study.id));
    ASSERT_FALSE(report.diverged()) << "crash at write " << crash_at;
  }
  EXPECT_GT(crash_at, 20);
}

}  // namespace
}  // namespace vernier::testing
