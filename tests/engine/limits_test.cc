// What a job's limits do to its trials. A turn of the world is a second.

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/status_matchers.h"

namespace vernier::testing {
namespace {

using ::testing::SizeIs;

class LimitsTest : public EngineTest {
 protected:
  // A job that reports once and then goes on for so long.
  void Hang(int turns, bool preempted = false) {
    world_.script = [turns, preempted](const GangProgram&) {
      Script script{.values = {0.5}, .message = "", .hangs = turns};
      if (preempted) {
        script.end = AttemptState::kFailed;
        script.failure = FailureClass::kPreempted;
        script.transient = true;
      }
      return script;
    };
  }
};

TEST_F(LimitsTest, AJobThatReportsNothingAnyMoreIsStopped) {
  Hang(1000);
  StudySpec spec = AnySpec(1, 1);
  spec.job->progress_limit = absl::Seconds(20);
  const Study study = Create(spec);
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure, FailureClass::kTimeout);
  EXPECT_EQ(trial.message, "reported nothing for 20s, its progress limit is 20s");
  EXPECT_THAT(trial.attempts, SizeIs(1));
  EXPECT_EQ(trial.attempts[0].state, AttemptState::kFailed);
  EXPECT_EQ(world_.jobs.begin()->second.state, AttemptState::kStopped);
}

TEST_F(LimitsTest, AJobThatReportsInTimeGoesOn) {
  world_.script = [](const GangProgram&) {
    return Script{.values = std::vector<double>(60, 0.5), .message = ""};
  };
  StudySpec spec = AnySpec(1, 1);
  spec.job->progress_limit = absl::Seconds(20);
  EXPECT_EQ(RunToEnd(Create(spec).id).completed, 1);
}

TEST_F(LimitsTest, ProgressIsAlsoMissedByAnEngineThatWasRestarted) {
  Hang(1000);
  StudySpec spec = AnySpec(1, 1);
  spec.job->progress_limit = absl::Seconds(20);
  const Study study = Create(spec);
  for (int turn = 0; turn < 40 && !IsFinished(process_->studies->GetStudy(study.id)->state);
       ++turn) {
    StepAndTurn(1);
    Restart();
  }
  EXPECT_EQ(Trials(study.id)[0].failure, FailureClass::kTimeout);
  EXPECT_THAT(Trials(study.id)[0].attempts, SizeIs(1));
}

TEST_F(LimitsTest, ATrialWhoseValuesStayNotFiniteIsEnded) {
  world_.script = [](const GangProgram&) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    Script script{.values = {0.5, kNaN, 0.4}, .message = ""};
    script.values.resize(50, kNaN);
    return script;
  };
  StudySpec spec = AnySpec(1, 1);
  spec.job->nan_limit = 3;
  const Study study = Create(spec);
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure, FailureClass::kDiverged);
  EXPECT_EQ(trial.message, "diverged: NaN or infinite 3 times in a row, its limit is 3");
  EXPECT_THAT(trial.attempts, SizeIs(1));
  EXPECT_EQ(world_.jobs.begin()->second.state, AttemptState::kStopped);
}

TEST_F(LimitsTest, ATrialIsLimitedOverAllOfItsAttempts) {
  Hang(10, /*preempted=*/true);
  StudySpec spec = AnySpec(1, 1);
  spec.job->trial_limit = absl::Seconds(20);
  const Study study = Create(spec);
  RunToEnd(study.id);
  const Trial trial = Trials(study.id)[0];
  EXPECT_EQ(trial.failure, FailureClass::kTimeout);
  EXPECT_EQ(trial.message, "ran for longer than its trial's limit of 20s, in 2 attempts");
  EXPECT_THAT(trial.attempts, SizeIs(2));
}

TEST_F(LimitsTest, ATrialThatWaitsForTooLongIsCancelled) {
  Hang(40);
  StudySpec spec = AnySpec(/*trials=*/5, /*parallel=*/5);  // Room for four gangs.
  spec.job->wait_limit = absl::Seconds(10);
  const Study study = Create(spec);
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.completed, 4);
  EXPECT_EQ(ended.failed, 0);
  const Trial trial = Trials(study.id)[4];
  EXPECT_EQ(trial.state, TrialState::kCancelled);
  EXPECT_EQ(trial.message, "did not come to run within its wait limit of 10s");
}

TEST_F(LimitsTest, WaitingForAFurtherAttemptDoesNotCount) {
  Hang(10, /*preempted=*/true);
  StudySpec spec = AnySpec(1, 1);
  spec.job->wait_limit = absl::Seconds(5);
  const Study study = Create(spec);
  RunToEnd(study.id);
  EXPECT_EQ(Trials(study.id)[0].state, TrialState::kFailed);
  EXPECT_THAT(Trials(study.id)[0].attempts, SizeIs(4));
}

}  // namespace
}  // namespace vernier::testing
