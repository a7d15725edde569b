#include "src/study/alike.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

using BudgetsTest = StudyFixture;

TEST_F(BudgetsTest, SpentTrialsEndTheStudyWithTheLastOfThem) {
  StudySpec spec = ClientSpec();
  spec.budget.trials = 2;
  const Study study = Create(spec);
  const auto trials = studies_->Suggest(study.id, 5, "w1", As("w1"), {});
  ASSERT_THAT(trials, IsOk());
  ASSERT_EQ(trials->size(), 2);
  const auto refused = studies_->Suggest(study.id, 1, "w2", As("w2"), {});
  EXPECT_THAT(
      refused,
      StatusIs(absl::StatusCode::kResourceExhausted, "study 'digits': budget of 2 trials spent"));
  EXPECT_EQ(GetReason(refused.status()), Reason::kBudgetSpent);
  EXPECT_EQ(GetReason(studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("ann")).status()),
            Reason::kBudgetSpent);
  ASSERT_THAT(Complete(study.id, (*trials)[0], 0.5), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kActive);
  const int commits = storage_.commits();
  ASSERT_THAT(Complete(study.id, (*trials)[1], 0.5), IsOk());
  EXPECT_EQ(storage_.commits(), commits + 1);  // The end is part of the same commit.
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(study.id).reason, "budget of 2 trials spent");
}

TEST_F(BudgetsTest, AStudyNoneOfWhoseTrialsCompletedHasFailed) {
  StudySpec spec = ClientSpec();
  spec.budget.trials = 2;
  const Study study = Create(spec);
  const auto trials = studies_->Suggest(study.id, 2, "w1", As("w1"), {});
  ASSERT_THAT(trials, IsOk());
  for (const Trial& trial : *trials) {
    const LeaseToken lease{"w1", trial.lease->token};
    ASSERT_THAT(studies_->Fail(
                    {study.id, trial.number}, FailureClass::kUserError, "exit 1", lease, As("w1")),
                IsOk());
  }
  EXPECT_EQ(Get(study.id).state, StudyState::kFailed);
  EXPECT_EQ(Get(study.id).reason, "budget of 2 trials spent, none completed");
}

TEST_F(BudgetsTest, ParallelTrialsAreBounded) {
  StudySpec spec = ClientSpec();
  spec.parallel = 2;
  const Study study = Create(spec);
  const auto trials = studies_->Suggest(study.id, 5, "w1", As("w1"), {});
  ASSERT_EQ(trials->size(), 2);
  const auto refused = studies_->Suggest(study.id, 1, "w2", As("w2"), {});
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "study 'digits': 2 trials are open, the bound is 2"));
  EXPECT_EQ(GetReason(refused.status()), Reason::kParallelLimit);
  ASSERT_THAT(Complete(study.id, (*trials)[0], 0.5), IsOk());
  EXPECT_EQ(SuggestOne(study.id, "w2").number, TrialNumber(3));
}

TEST_F(BudgetsTest, TrialsByHandWaitUntilTheParallelBoundAllowsThem) {
  StudySpec spec = ClientSpec();
  spec.parallel = 1;
  const Study study = Create(spec);
  const Trial running = SuggestOne(study.id, "w1");
  const Trial added = studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("a")).value();
  EXPECT_EQ(GetReason(studies_->Suggest(study.id, 1, "w2", As("w2"), {}).status()),
            Reason::kParallelLimit);
  ASSERT_THAT(Complete(study.id, running, 0.5), IsOk());
  EXPECT_EQ(SuggestOne(study.id, "w2").number, added.number);
}

TEST_F(BudgetsTest, TooManyFailuresStopTheStudyAndThenFailIt) {
  StudySpec spec = ClientSpec();
  spec.budget.failed_trials = 2;
  const Study study = Create(spec);
  const Trial one = SuggestOne(study.id, "w1");
  const Trial two = SuggestOne(study.id, "w2");
  const Trial three = SuggestOne(study.id, "w3");
  const auto fail = [&](const Trial& trial) {
    return studies_->Fail({study.id, trial.number},
                          FailureClass::kUserError,
                          "broke",
                          TokenOf(trial),
                          As(trial.lease->holder));
  };
  ASSERT_THAT(fail(one), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kActive);
  ASSERT_THAT(fail(two), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kStopping);
  EXPECT_EQ(Get(study.id, three.number).state, TrialState::kStopping);
  ASSERT_THAT(Complete(study.id, three, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kFailed);
  EXPECT_EQ(Get(study.id).reason, "2 trials failed, the bound is 2");
}

class BrokenJobTest : public StudyFixture {
 protected:
  // One more trial of the study, which then fails like this.
  Trial FailOne(StudyId study, const std::string& message, FailureClass failure) {
    const TrialNumber trial = Start(study);
    EndAttempt(study, trial, AttemptState::kFailed);
    EXPECT_THAT(studies_->Fail({study, trial}, failure, message, std::nullopt, As("engine")),
                IsOk());
    return Get(study, trial);
  }
  void EndAttempt(StudyId study, TrialNumber trial, AttemptState state) {
    EXPECT_THAT(studies_->MoveAttempt(
                    {{study, trial}, AttemptNumber(1)}, state, FailureClass::kNone, false, "", {}),
                IsOk());
  }
  Trial FailOne(StudyId study, const std::string& message) {
    return FailOne(study, message, FailureClass::kUserError);
  }
  TrialNumber Start(StudyId study) {
    const TrialNumber trial = studies_->Ask(study, 1, As("engine"), {}).value().front().number;
    EXPECT_THAT(studies_->Move({study, trial}, TrialState::kQueued, FailureClass::kNone, ""),
                IsOk());
    EXPECT_THAT(studies_->PlaceAttempt({study, trial}, {{.role = "chief"}}, "/runs"), IsOk());
    EXPECT_THAT(studies_->Move({study, trial}, TrialState::kRunning, FailureClass::kNone, ""),
                IsOk());
    return trial;
  }
};

TEST_F(BrokenJobTest, ThreeFailuresOfAKindFailTheStudy) {
  const StudyId study = Create(JobSpec()).id;
  const TrialNumber running = Start(study);
  FailOne(study, "exit status 1 after 0.5 s at lr=1e-05");
  FailOne(study, "exit status 1 after 12 s at lr=0.25");
  EXPECT_EQ(Get(study).state, StudyState::kActive);
  FailOne(study, "exit status 1 after 7 s at lr=-3");
  EXPECT_EQ(Get(study).state, StudyState::kStopping);
  EXPECT_EQ(Get(study, running).state, TrialState::kStopping);
  Restart();
  EndAttempt(study, running, AttemptState::kStopped);
  ASSERT_THAT(
      studies_->Move({study, running}, TrialState::kCancelled, FailureClass::kNone, "stopped"),
      IsOk());
  EXPECT_EQ(Get(study).state, StudyState::kFailed);
  EXPECT_EQ(Get(study).reason, "first 3 trials all failed: exit status 1 after 0.5 s at lr=1e-05");
  ASSERT_OK_AND_ASSIGN(const ReplayReport report, studies_->Replay(study));
  EXPECT_FALSE(report.diverged());
}

TEST_F(BrokenJobTest, OtherwiseItGoesOn) {
  struct Case {
    std::string name;
    std::optional<std::int64_t> bound;
    bool completes;
    std::vector<std::pair<std::string, FailureClass>> failures;
  };
  const auto error = [](const char* text) { return std::pair(text, FailureClass::kUserError); };
  for (const Case& row : std::vector<Case>{
           {"ABoundOfItsOwn", 10, false, {error("exit 1"), error("exit 1"), error("exit 1")}},
           {"ASuccessBefore", {}, true, {error("exit 1"), error("exit 1"), error("exit 1")}},
           {"AnotherMessage", {}, false, {error("exit 1"), error("no file"), error("exit 1")}},
           {"AnotherClass", {}, false, {error("x"), {"x", FailureClass::kTimeout}, error("x")}},
           {"TheyDiverged",
            {},
            false,
            {{"x", FailureClass::kDiverged},
             {"x", FailureClass::kDiverged},
             {"x", FailureClass::kDiverged}}},
           {"NotTheFirstThree",
            {},
            false,
            {error("no file"), error("exit 1"), error("exit 1"), error("exit 1")}}}) {
    SCOPED_TRACE(row.name);
    StudySpec spec = JobSpec(row.name);
    spec.budget.failed_trials = row.bound;
    const StudyId study = Create(spec).id;
    if (row.completes) {
      const TrialId trial{study, Start(study)};
      ASSERT_THAT(
          studies_->Complete(trial, {.metrics = {{"accuracy", 0.5}}}, std::nullopt, As("engine")),
          IsOk());
    }
    for (const auto& [message, failure] : row.failures) FailOne(study, message, failure);
    EXPECT_EQ(Get(study).state, StudyState::kActive);
  }
}

TEST_F(BrokenJobTest, StudiesOfClientsAreLeftAlone) {
  const Study study = Create(ClientSpec());
  for (int i = 0; i < 3; ++i) {
    const Trial trial = SuggestOne(study.id);
    ASSERT_THAT(
        studies_->Fail(
            {study.id, trial.number}, FailureClass::kUserError, "broke", TokenOf(trial), As("w1")),
        IsOk());
  }
  EXPECT_EQ(Get(study.id).state, StudyState::kActive);
}

TEST(Alike, NumbersMakeNoDifference) {
  EXPECT_EQ(WithoutNumbers("The replica worker 1 exited with 9(SIGKILL) after 1.5e-3 s, x=-2."),
            "The replica worker # exited with #(SIGKILL) after # s, x=#.");
  EXPECT_EQ(WithoutNumbers("tf-2.15 at 2026-11-21 e5"), "tf-# at #-#-# e#");
  EXPECT_EQ(WithoutNumbers(""), "");
}

struct EndCase {
  std::string name;
  std::string one;
  std::string other;
  bool alike = true;
};
class EndTest : public ::testing::TestWithParam<EndCase> {};

TEST_P(EndTest, IsComparedWithoutWhatDiffersFromTrialToTrial) {
  const Point first = {{"optimizer", std::string("adam")}, {"lr", 0.1}};
  const Point second = {{"optimizer", std::string("rms-prop")}, {"lr", 0.2}};
  EXPECT_EQ(EndOf(GetParam().one, first) == EndOf(GetParam().other, second), GetParam().alike)
      << EndOf(GetParam().one, first) << "\n"
      << EndOf(GetParam().other, second);
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    EndTest,
    ::testing::ValuesIn(std::vector<EndCase>{
        {"AnotherReplica",
         "error: x. The replica chief 0 exited with a non-zero status of 1. Termination reason: "
         "Error. The replica worker 0 exited with a non-zero status of 1. Termination reason: "
         "Error.",
         "error: x. The replica worker 1 exited with a non-zero status of 1. Termination reason: "
         "Error. The replica chief 0 exited with a non-zero status of 134(SIGABRT)."},
        {"AnotherNote",
         "error: x. The replica chief 0 exited with a non-zero status of 6(SIGABRT). Termination "
         "reason: crashed. It crashed in the same way in attempt 1, so it is not run again.",
         "error: x. The replica chief 0 exited with a non-zero status of 6(SIGABRT). Termination "
         "reason: crashed. Trial 1 crashed in the same way, so it is not run again."},
        {"AnotherError",
         "error: x. The replica chief 0 exited with a non-zero status of 1.",
         "error: y. The replica chief 0 exited with a non-zero status of 1.",
         false},
        {"AnotherStatus",
         "The replica chief 0 exited with a (SIGSEGV). x",
         "The replica chief 0 exited with a (SIGABRT). x",
         false},
        {"ItsParameters", "ValueError: no 'adam' at 0.1", "ValueError: no 'rms-prop' at 0.2"},
        {"PartsOfWords", "ValueError: adamant", "ValueError: rms-propant", false},
        {"AShortNumber", "error: lr 0.5 too big", "error: lr 0.0316227766 too big"},
        {"AnExponent", "error: --lr=2.4137e-05 too small", "error: --lr=0.1 too small"},
        {"ANegativeNumber", "x=-0.25 is bad", "x=3 is bad"},
        {"AnAddress", "corrupted at 0x7fab12", "corrupted at 0xcafe"},
        {"AHash", "no blob d41d8cd98f00b204", "no blob 5eb63bbbe01eeed0"},
        {"ATemporaryFile", "no file '/tmp/tmpab_x9/a.txt'", "no file '/tmp/tmpzz81k/b.txt'"},
        {"ItsFolder", "no file runs/trial-1/attempt-1/x", "no file runs/trial-12/attempt-3/x"},
        {"AProcessAndATime",
         "[pid 12] 2026-11-23 03:04:05 lost",
         "[pid 9] 2026-11-24 11:00:59 lost"},
        {"WhatWasCutOff",
         "error: 1 " + std::string(300, 'x'),
         "error: 12 " + std::string(290, 'x')},
        {"ALimit", "reported nothing for 10s", "reported nothing for 12s"}}),
    [](const auto& test) { return test.param.name; });

TEST_F(BudgetsTest, TimeCountsFromTheCreationAndNotWhilePaused) {
  StudySpec spec = ClientSpec();
  spec.budget.time = absl::Hours(2);
  spec.lease.ttl = absl::Hours(100);
  const Study study = Create(spec);
  const Trial running = SuggestOne(study.id);
  clock_.Advance(absl::Hours(1));
  ASSERT_THAT(studies_->Pause(study.id, As("ann")), IsOk());
  clock_.Advance(absl::Hours(10));
  ASSERT_THAT(studies_->Tick(), IsOk());
  ASSERT_THAT(studies_->Resume(study.id, As("ann")), IsOk());
  clock_.Advance(absl::Minutes(59));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kActive);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(GetReason(studies_->Suggest(study.id, 1, "w2", As("w2"), {}).status()),
            Reason::kBudgetSpent);
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kStopping);
  EXPECT_EQ(Get(study.id, running.number).state, TrialState::kStopping);
  ASSERT_THAT(Complete(study.id, running, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(study.id).reason, "time budget of 2h spent");
}

TEST_F(BudgetsTest, AnIdleStudyOutOfTimeIsCompletedByTheTick) {
  StudySpec spec = ClientSpec();
  spec.budget.time = absl::Hours(2);
  const Study study = Create(spec);
  clock_.Advance(absl::Hours(2));
  EXPECT_TRUE(studies_->Tick()->empty());
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
}

TEST_F(BudgetsTest, AClockThatGoesBackDoesNotTurnTheLogBack) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  clock_.Advance(-absl::Hours(5));
  ASSERT_THAT(Complete(study.id, trial, 0.5), IsOk());
  EXPECT_EQ(Get(study.id, trial.number).ended, study.created);
}

}  // namespace
}  // namespace vernier::study
