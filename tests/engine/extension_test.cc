// Studies whose definition changes while their trials run, or after they have ended.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/status_matchers.h"

namespace vernier::testing {
namespace {

using ::testing::SizeIs;

class ExtensionTest : public EngineTest {
 protected:
  void Amend(StudyId id, const Amendment& change) {
    ASSERT_THAT(process_->studies->Amend(id, change, {.actor = "ann", .request_id = ""}), IsOk());
  }
  static TrainingJob Running(const StudySpec& spec, const std::string& program) {
    TrainingJob job = *spec.job;
    job.command = {program};
    return job;
  }
  const FakeWorld::Job& Job(StudyId study, std::int64_t trial, std::int64_t attempt) {
    return world_.jobs.at({{study, TrialNumber(trial)}, AttemptNumber(attempt)});
  }
  std::string ProgramOf(StudyId study, std::int64_t trial, std::int64_t attempt) {
    return Job(study, trial, attempt).program.replicas.front().argv.front();
  }
};

TEST_F(ExtensionTest, ALargerBudgetIsWorkedOff) {
  const Study study = Create(AnySpec(2, 1));
  ASSERT_EQ(RunToEnd(study.id).state, StudyState::kCompleted);
  Amend(study.id, {.trials = 5});
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  EXPECT_EQ(ended.completed, 5);
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.starts, 1);
}

TEST_F(ExtensionTest, AStudyWhoseJobWasBrokenGoesOnWithTheChangedOne) {
  world_.script = [](const GangProgram& gang) {
    if (gang.replicas.front().argv.front() == "works") return Script{};
    return Script{.values = {},
                  .end = AttemptState::kFailed,
                  .failure = FailureClass::kUserError,
                  .message = "exit 1"};
  };
  const StudySpec spec = AnySpec(6, 1);
  const Study study = Create(spec);
  ASSERT_EQ(RunToEnd(study.id).state, StudyState::kFailed);
  Restart();
  Amend(study.id, {.job = Running(spec, "works")});
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  EXPECT_EQ(ended.failed, 3);
  EXPECT_EQ(ended.completed, 3);
}

TEST_F(ExtensionTest, AChangedJobCountsFromTheNextAttempt) {
  world_.script = [](const GangProgram& gang) {
    if (gang.id.number.value() > 1 || gang.id.trial.number.value() > 1) return Script{};
    return Script{.values = {0.1},
                  .end = AttemptState::kFailed,
                  .failure = FailureClass::kPreempted,
                  .transient = true,
                  .hangs = 5};
  };
  const StudySpec spec = AnySpec(2, 1);
  const Study study = Create(spec);
  StepAndTurn(3);
  TrainingJob changed = Running(spec, "other");
  changed.replicas.erase(Role::kWorker);
  changed.restarts.job = 0;  // Of no concern to what runs already.
  Amend(study.id, {.job = changed});
  StepAndTurn(1);
  Restart();  // What runs is adopted as what it was started as.
  StepAndTurn(1);
  EXPECT_THAT(Job(study.id, 1, 1).program.replicas, SizeIs(2));
  EXPECT_EQ(Job(study.id, 1, 1).starts, 1);
  EXPECT_EQ(RunToEnd(study.id).completed, 2);
  EXPECT_EQ(ProgramOf(study.id, 1, 1), "train");
  EXPECT_EQ(ProgramOf(study.id, 1, 2), "other");
  EXPECT_THAT(Job(study.id, 1, 2).program.replicas, SizeIs(1));
  EXPECT_EQ(ProgramOf(study.id, 2, 1), "other");
  for (const auto& [id, job] : world_.jobs) EXPECT_EQ(job.starts, 1);
  const Trial first = Trials(study.id)[0];
  ASSERT_THAT(first.attempts, SizeIs(2));
  EXPECT_EQ(first.attempts[0].defined_by, EventSeq(0));
  EXPECT_NE(first.attempts[1].defined_by, EventSeq(0));
}

// The limits of what runs are those that it was started with.
TEST_F(ExtensionTest, LimitsCountFromTheNextAttempt) {
  world_.script = [](const GangProgram&) { return Script{.values = {0.1}, .hangs = 20}; };
  const StudySpec spec = AnySpec(2, 1);
  const Study study = Create(spec);
  StepAndTurn(3);
  TrainingJob limited = *spec.job;
  limited.trial_limit = absl::Seconds(4);
  Amend(study.id, {.job = limited});
  const Study ended = RunToEnd(study.id);
  EXPECT_EQ(ended.completed, 1);
  EXPECT_EQ(Trials(study.id)[0].state, TrialState::kCompleted);
  EXPECT_EQ(Trials(study.id)[1].failure, FailureClass::kTimeout);
}

}  // namespace
}  // namespace vernier::testing
