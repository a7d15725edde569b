// Attempts that end in a way that may pass: the whole job is run again, as a further attempt of the same trial.

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/engine/job_rules.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/fault_storage.h"
#include "tests/support/status_matchers.h"

namespace vernier::testing {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

Script Preempted() {
  return {.values = {0.1},
          .end = AttemptState::kFailed,
          .failure = FailureClass::kPreempted,
          .transient = true,
          .message = "ended from outside"};
}
Script Lost() {
  return {.values = {0.1},
          .end = AttemptState::kLost,
          .failure = FailureClass::kNodeLost,
          .message = "its supervisor is gone"};
}
Script Broken() {
  return {.values = {0.1},
          .end = AttemptState::kFailed,
          .failure = FailureClass::kUserError,
          .message = "exit 1"};
}

Script Crashed(const std::string& cause = "bad free", int signal = SIGSEGV) {
  return {.values = {},
          .end = AttemptState::kFailed,
          .failure = FailureClass::kUserError,
          .transient = true,
          .message = cause + ". The replica chief 0 exited with a non-zero status. It is over.",
          .signal = signal};
}

struct RerunCase {
  std::string name;
  std::vector<Script> scripts;  // One for each attempt; the last for all that follow.
  RestartPolicy policy;
  std::size_t attempts;
  TrialState state;
  FailureClass failure;
};

class RerunTest : public EngineTest {
 protected:
  // Every trial goes through the scripts.
  void Play(const std::vector<Script>& scripts) {
    world_.script = [scripts](const GangProgram& gang) {
      const auto attempt = static_cast<std::size_t>(gang.id.number.value());
      return scripts[std::min(attempt, scripts.size()) - 1];
    };
  }
};
class RerunTableTest : public RerunTest, public ::testing::WithParamInterface<RerunCase> {};

TEST_P(RerunTableTest, CountsAttempts) {
  Play(GetParam().scripts);
  StudySpec spec = AnySpec(1, 1);
  spec.job->restarts = GetParam().policy;
  const Study study = Create(spec);
  RunToEnd(study.id);
  ASSERT_THAT(Trials(study.id), SizeIs(1));
  const Trial trial = Trials(study.id)[0];
  EXPECT_THAT(trial.attempts, SizeIs(GetParam().attempts));
  EXPECT_EQ(TrialStateName(trial.state), TrialStateName(GetParam().state));
  EXPECT_EQ(FailureClassName(trial.failure), FailureClassName(GetParam().failure));
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.starts, 1);
  EXPECT_EQ(world_.most_used(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    RerunTableTest,
    ::testing::Values(
        RerunCase{"PassesAtOnce",
                  {Preempted(), Script{}},
                  {},
                  2,
                  TrialState::kCompleted,
                  FailureClass::kNone},
        RerunCase{"ThreeRerunsAtMost",
                  {Preempted()},
                  {},
                  4,
                  TrialState::kFailed,
                  FailureClass::kPreempted},
        RerunCase{"NoneIfThePolicySaysSo",
                  {Preempted()},
                  {.job = 0},
                  1,
                  TrialState::kFailed,
                  FailureClass::kPreempted},
        RerunCase{"AnOwnFailureIsFinal",
                  {Broken()},
                  {},
                  1,
                  TrialState::kFailed,
                  FailureClass::kUserError},
        RerunCase{"AlsoInARerun",
                  {Preempted(), Broken()},
                  {},
                  2,
                  TrialState::kFailed,
                  FailureClass::kUserError},
        RerunCase{"InternalErrorsThreeAttemptsInAll",
                  {Lost()},
                  {},
                  3,
                  TrialState::kFailed,
                  FailureClass::kNodeLost},
        RerunCase{"InternalErrorsAreAmongTheReruns",
                  {Lost()},
                  {.job = 1},
                  2,
                  TrialState::kFailed,
                  FailureClass::kNodeLost},
        RerunCase{"OthersBetweenThemDoNotCount",
                  {Lost(), Preempted(), Lost(), Script{}},
                  {},
                  4,
                  TrialState::kCompleted,
                  FailureClass::kNone},
        RerunCase{"ACrashThatDoesNotComeAgain",
                  {Crashed(), Script{}},
                  {},
                  2,
                  TrialState::kCompleted,
                  FailureClass::kNone},
        RerunCase{
            "TheSameCrashTwice", {Crashed()}, {}, 2, TrialState::kFailed, FailureClass::kUserError},
        RerunCase{"TheSameCrashWithAnotherAddress",
                  {Crashed("at 0x7f12"), Crashed("at 0xcafe")},
                  {},
                  2,
                  TrialState::kFailed,
                  FailureClass::kUserError},
        RerunCase{"TheSameCrashAfterSomethingElse",
                  {Crashed(), Preempted(), Crashed()},
                  {},
                  3,
                  TrialState::kFailed,
                  FailureClass::kUserError},
        RerunCase{"OtherCrashesEachTime",
                  {Crashed("a"), Crashed("b"), Crashed("c"), Crashed("d")},
                  {},
                  4,
                  TrialState::kFailed,
                  FailureClass::kUserError},
        RerunCase{"InternalErrorsMayBeFinal",
                  {Preempted(), Lost()},
                  {.internal = 0},
                  2,
                  TrialState::kFailed,
                  FailureClass::kNodeLost}),
    [](const auto& test) { return test.param.name; });

TEST_F(RerunTest, SaysThatAnErrorWasInternal) {
  Play({Lost()});
  const Study study = Create(AnySpec(1, 1));
  RunToEnd(study.id);
  EXPECT_EQ(Trials(study.id)[0].message,
            "Internal error occurred for the current attempt: its supervisor is gone");
  EXPECT_EQ(Trials(study.id)[0].attempts[0].message, "its supervisor is gone");
}

TEST_F(RerunTest, SaysThatACrashCameAgain) {
  Play({Crashed()});
  StudySpec spec = AnySpec(9, 1);
  const Study ended = RunToEnd(Create(spec).id);
  EXPECT_EQ(ended.state, StudyState::kFailed);
  EXPECT_THAT(ended.reason, StartsWith("first 3 trials all failed: bad free. "));
  const std::vector<Trial> trials = Trials(ended.id);
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_THAT(trials[0].attempts, SizeIs(2));
  EXPECT_THAT(trials[0].message,
              EndsWith("It crashed in the same way in attempt 1, so it is not run again."));
  EXPECT_EQ(trials[0].attempts[1].message, Crashed().message);
  for (const Trial& trial : {trials[1], trials[2]}) {
    EXPECT_THAT(trial.attempts, SizeIs(1));
    EXPECT_THAT(trial.message,
                EndsWith("Trial 1 crashed in the same way, so it is not run again."));
  }
}

TEST_F(RerunTest, ACrashAmongTrialsThatCompleteIsTriedAgain) {
  world_.script = [](const GangProgram& gang) {
    return gang.id.trial.number.value() == 1 ? Script{} : Crashed();
  };
  const Study ended = RunToEnd(Create(AnySpec(3, 1)).id);
  EXPECT_EQ(ended.completed, 1);
  for (const Trial& trial : Trials(ended.id)) {
    EXPECT_THAT(trial.attempts, SizeIs(trial.number.value() == 1 ? 1 : 2));
  }
}

struct CrashCase {
  std::string name;
  std::vector<std::pair<int, int>> curve;  // Seconds, steps. Attempts start at 0 and at 100 s.
  bool again;
};
class SameCrashTest : public ::testing::TestWithParam<CrashCase> {};

TEST_P(SameCrashTest, IsWorthAnotherAttemptIfItCameFurther) {
  const GangStatus end{.state = AttemptState::kFailed,
                       .failure = FailureClass::kUserError,
                       .transient = true,
                       .message = "The replica chief 0 exited",
                       .replicas = {{.role = "chief", .exit_code = 139}}};
  const auto attempt = [&](int number, int started) {
    Attempt made{.number = AttemptNumber(number), .placement = {}, .directory = ""};
    made.started = absl::FromUnixSeconds(started);
    made.failure = end.failure;
    made.transient = end.transient;
    made.message = end.message;
    made.replicas = end.replicas;
    return made;
  };
  Trial trial;
  trial.attempts = {attempt(1, 0), attempt(2, 100)};
  std::vector<Measurement> curve;
  for (const auto& [seconds, step] : GetParam().curve) {
    curve.push_back({.step = step,
                     .elapsed = {},
                     .time = absl::FromUnixSeconds(seconds),
                     .metrics = {{"accuracy", 1}},
                     .source = ""});
  }
  EXPECT_EQ(engine::FindSameCrash(Study(), trial, end, curve, {}).has_value(), !GetParam().again);
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         SameCrashTest,
                         ::testing::ValuesIn(std::vector<CrashCase>{
                             {"NothingReported", {}, false},
                             {"AtTheSameStep", {{1, 1}, {2, 2}, {101, 1}, {102, 2}}, false},
                             {"BeforeItsFirstReport", {{1, 1}, {2, 2}}, false},
                             {"OneStepLater", {{1, 1}, {2, 2}, {101, 3}}, true},
                             {"AfterTheOnlyReports", {{101, 1}}, true}}),
                         [](const auto& test) { return test.param.name; });

TEST_F(RerunTest, ALauncherThatCannotStartIsTriedThreeTimes) {
  world_.broken_starts = 2;
  const Study study = Create(AnySpec(1, 1));
  EXPECT_EQ(RunToEnd(study.id).completed, 1);
  EXPECT_THAT(Trials(study.id)[0].attempts, SizeIs(3));
  EXPECT_EQ(Trials(study.id)[0].attempts[0].state, AttemptState::kFailed);

  world_.broken_starts = 3;
  StudySpec spec = AnySpec(1, 1);
  spec.name = "other";
  const Study other = Create(spec);
  RunToEnd(other.id);
  const Trial trial = Trials(other.id)[0];
  EXPECT_EQ(trial.failure, FailureClass::kInternal);
  EXPECT_THAT(trial.message,
              StartsWith("Internal error occurred for the current attempt: supervisor"));
  EXPECT_FALSE(trial.started.has_value());
}

TEST_F(RerunTest, RerunsDoNotEatTheBudget) {
  Play({Preempted(), Preempted(), Script{}});
  const Study study = Create(AnySpec(/*trials=*/5, /*parallel=*/2));
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  EXPECT_EQ(ended.completed, 5);
  EXPECT_EQ(ended.failed, 0);
  EXPECT_EQ(ended.trials, 5);
  EXPECT_EQ(world_.jobs.size(), 15U);
  EXPECT_EQ(world_.most_used(), 4);
}

TEST_F(RerunTest, WhatAnEarlierAttemptReportedStays) {
  Script silent;
  silent.values = {};
  Script first = Preempted();
  first.values = {0.6, 0.7};
  Play({first, silent});
  const Study study = Create(AnySpec(1, 1));
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.state, TrialState::kCompleted);
  EXPECT_EQ(trial.final_metrics.at("accuracy"), 0.7);
  EXPECT_EQ(trial.measurements, 2);
}

// The curve has a point for each step, whichever attempt reported it last.
TEST_F(RerunTest, StepsReportedAgainDoNotDisturbTheStoppingRule) {
  world_.script = [](const GangProgram& gang) {
    const bool last = gang.id.trial.number.value() == 8;
    const bool is_cut = last && gang.id.number.value() == 1;
    Script script = is_cut ? Preempted() : Script{};
    script.values.clear();
    for (int step = 1; step <= (is_cut ? 12 : 20); ++step) {
      script.values.push_back(0.04 * step + (last ? 0.01 : 0));
    }
    return script;
  };
  StudySpec spec = AnySpec(8, 1);
  spec.stopping = {.name = "median", .options = {}};
  const Study study = Create(spec);
  EXPECT_EQ(RunToEnd(study.id).completed, 8);
  const Trial trial = Trials(study.id)[7];
  EXPECT_THAT(trial.attempts, SizeIs(2));
  EXPECT_FALSE(trial.stop.has_value());
  ASSERT_OK_AND_ASSIGN(const ReplayReport report, process_->studies->Replay(study.id));
  EXPECT_FALSE(report.diverged());
}

TEST_F(RerunTest, AUserMayStopATrialBetweenTwoAttempts) {
  Play({Preempted(), Script{.values = std::vector<double>(1000, 0.5), .message = ""}});
  const Study study = Create(AnySpec(1, 1));
  for (int i = 0; i < 20 && Trials(study.id).empty(); ++i) StepAndTurn(1);
  ASSERT_THAT(process_->studies->Pause(study.id, {.actor = "test", .request_id = ""}), IsOk());
  StepAndTurn(10);
  const TrialId trial{study.id, TrialNumber(1)};
  ASSERT_EQ(Trials(study.id)[0].state, TrialState::kQueued);  // A paused study starts nothing.
  ASSERT_THAT(process_->studies->StopTrial(trial, "enough", {.actor = "test", .request_id = ""}),
              IsOk());
  EXPECT_EQ(Trials(study.id)[0].state, TrialState::kCancelled);
  StepAndTurn(3);
  EXPECT_EQ(world_.jobs.size(), 1U);
}

TEST_F(RerunTest, RestartsOfAReplicaAreShownWhileTheJobRuns) {
  Play({Script{.values = {0.5}, .message = "", .hangs = 50, .restarts = 2}});
  const Study study = Create(AnySpec(1, 1));
  StepAndTurn(6);
  ASSERT_THAT(Trials(study.id)[0].attempts[0].replicas, SizeIs(1));
  EXPECT_EQ(Trials(study.id)[0].attempts[0].replicas[0].restarts, 2);
}

// Dies at the nth write, for every n, while every trial takes three attempts: none is lost, none counted twice.
TEST_F(RerunTest, CountersSurviveACrashAtEveryWrite) {
  Play({Preempted(), Lost(), Script{}});
  int crash_at = 0;
  for (bool crashed = true; crashed; ++crash_at) {
    ASSERT_LT(crash_at, 500);
    SCOPED_TRACE(crash_at);
    Study study;
    crashed = DieAtWrite(crash_at, AnySpec(2, 2), study);
    ASSERT_EQ(RunToEnd(study.id).completed, 2);
    for (const Trial& trial : Trials(study.id)) ASSERT_THAT(trial.attempts, SizeIs(3));
    ASSERT_THAT(world_.jobs, SizeIs(6));
    for (const auto& [id, job] : world_.jobs) ASSERT_EQ(job.starts, 1);
  }
  EXPECT_GT(crash_at, 30);
}

TEST_F(RerunTest, ARestartedEngineGoesOnCounting) {
  Play({Lost(), Lost(), Lost(), Script{}});
  const Study study = Create(AnySpec(1, 1));
  for (int turn = 0; turn < 60 && !IsFinished(process_->studies->GetStudy(study.id)->state);
       ++turn) {
    StepAndTurn(1);
    Restart();
  }
  EXPECT_THAT(Trials(study.id)[0].attempts, SizeIs(3));
  EXPECT_EQ(Trials(study.id)[0].failure, FailureClass::kNodeLost);
}

TEST_F(RerunTest, AnAttemptWhoseRecordsAreGoneIsTakenDownAndRunAgain) {
  Play({Script{.values = {0.5}, .message = "", .hangs = 1000}, Script{}});
  const Study study = Create(AnySpec(1, 1));
  StepAndTurn(6);
  ASSERT_EQ(Trials(study.id)[0].state, TrialState::kRunning);
  world_.jobs.clear();
  Restart();
  EXPECT_EQ(RunToEnd(study.id).completed, 1);
  const std::vector<Attempt> attempts = Trials(study.id)[0].attempts;
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[0].failure, FailureClass::kInternal);
  EXPECT_EQ(attempts[0].message, "the records of the attempt are gone");
}

TEST_F(RerunTest, ATrialWhoseResultMayBeAmongLostOutputIsRunAgain) {
  Play({Script{.values = {}, .lost_output = "the disk of the runs was full"}, Script{}});
  const Study study = Create(AnySpec(1, 1));
  EXPECT_EQ(RunToEnd(study.id).completed, 1);
  const std::vector<Attempt> attempts = Trials(study.id)[0].attempts;
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[0].failure, FailureClass::kInternal);
  EXPECT_EQ(attempts[0].message,
            "some of what it printed was lost, and its result with it: the disk of the runs was "
            "full");
}

TEST_F(RerunTest, LostOutputMeansNothingWhereTheResultWasReported) {
  Play({Script{.values = {0.5}, .lost_output = "the disk of the runs was full"}});
  const Study study = Create(AnySpec(1, 1));
  EXPECT_EQ(RunToEnd(study.id).completed, 1);
  EXPECT_THAT(Trials(study.id)[0].attempts, SizeIs(1));
}

TEST_F(RerunTest, AnAttemptThatRanIsNotCompletedWhereRecordsOfItAreGone) {
  Play({Script{.values = {0.5}, .message = "", .hangs = 1000}, Script{}});
  const Study study = Create(AnySpec(1, 1));
  StepAndTurn(6);
  ASSERT_EQ(Trials(study.id)[0].state, TrialState::kRunning);
  world_.jobs.begin()->second.state = AttemptState::kStarting;  // As if a replica was not started.
  Restart();
  EXPECT_EQ(RunToEnd(study.id).completed, 1);
  const std::vector<Attempt> attempts = Trials(study.id)[0].attempts;
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[0].message, "the records of the attempt are gone");
}

}  // namespace
}  // namespace vernier::testing
