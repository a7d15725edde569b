// What a study keeps of paused trials, whether it is read from its log or from a snapshot.
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>

#include "src/study/fold_loading.h"
#include "tests/study/study_fixture.h"
#include "tests/support/algorithms.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// Trials that report once, and are judged by successive halving with promotion: one in two goes on.
class PausedTrialsTest : public StudyFixture {
 protected:
  static StudySpec PausableSpec() {
    StudySpec spec = JobSpec();
    spec.stopping = {.name = "asha",
                     .options = {{"type", std::string("promotion")},
                                 {"reduction_factor", std::int64_t{2}},
                                 {"min_resource", std::int64_t{1}},
                                 {"max_resource", std::int64_t{2}}}};
    spec.job->pausable = true;
    spec.parallel = 1;
    spec.budget.trials = 3;
    return spec;
  }

  absl::Status Move(TrialNumber trial, TrialState to) {
    return studies_->Move({study_.id, trial}, to, FailureClass::kNone, "").status();
  }
  absl::Status MoveAttempt(TrialNumber trial, AttemptState to) {
    const AttemptNumber last = Get(study_.id, trial).attempts.back().number;
    return studies_->MoveAttempt({{study_.id, trial}, last}, to, FailureClass::kNone, false, "", {})
        .status();
  }
  absl::StatusOr<TrialNumber> Ask() {
    auto asked = studies_->Ask(study_.id, 1, As("engine"), {});
    if (!asked.ok()) return asked.status();
    EXPECT_EQ(asked->size(), 1u);
    return asked->front().number;
  }
  // Runs the next attempt of the trial up to its report.
  void Run(TrialNumber trial, std::int64_t step, double accuracy) {
    if (Get(study_.id, trial).state == TrialState::kRequested) {
      ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
    }
    ASSERT_THAT(studies_->PlaceAttempt({study_.id, trial}, {{.role = "chief"}}, "/runs/a"), IsOk());
    ASSERT_THAT(MoveAttempt(trial, AttemptState::kRunning), IsOk());
    ASSERT_THAT(Move(trial, TrialState::kRunning), IsOk());
    ASSERT_THAT(studies_->Report(
                    {study_.id, trial}, {Measured(step, accuracy)}, std::nullopt, As("engine")),
                IsOk());
  }
  void Pause(TrialNumber trial) {
    ASSERT_EQ(Get(study_.id, trial).state, TrialState::kStopping);
    ASSERT_THAT(MoveAttempt(trial, AttemptState::kStopped), IsOk());
    ASSERT_THAT(Move(trial, TrialState::kPaused), IsOk());
  }
  void ExpectSnapshotsAgree() {
    Restart();
    const auto snapshot = FoldSnapshot(*memory_, study_.id);
    ASSERT_THAT(snapshot, IsOk());
    if (!snapshot->has_value()) return;
    EXPECT_EQ(FoldLog(*memory_, study_.id)->DifferenceTo(**snapshot), "");
  }

  Study study_ = Create(PausableSpec());
};

TEST_F(PausedTrialsTest, GoOnAndEndAcrossRestarts) {
  const std::array values = {0.9, 0.5};
  for (const double value : values) {
    const absl::StatusOr<TrialNumber> trial = Ask();
    ASSERT_THAT(trial, IsOk());
    Run(*trial, 1, value);
    Pause(*trial);
    ExpectSnapshotsAgree();
  }
  EXPECT_EQ(Get(study_.id).open, 0);
  EXPECT_EQ(Get(study_.id).state, StudyState::kActive);
  // Of two the better one goes on, before a third trial is made.
  EXPECT_THAT(Ask().value(), TrialNumber(1));
  EXPECT_EQ(Get(study_.id).trials, 2);
  EXPECT_EQ(Get(study_.id, TrialNumber(1)).state, TrialState::kQueued);
  EXPECT_FALSE(Get(study_.id, TrialNumber(1)).stop.has_value());
  ExpectSnapshotsAgree();
  Run(TrialNumber(1), 2, 0.95);
  EXPECT_EQ(Get(study_.id, TrialNumber(1)).state, TrialState::kRunning) << "no rung at its end";
  ASSERT_THAT(MoveAttempt(TrialNumber(1), AttemptState::kSucceeded), IsOk());
  ASSERT_THAT(studies_->Complete({study_.id, TrialNumber(1)}, {}, std::nullopt, As("engine")),
              IsOk());
  ExpectSnapshotsAgree();
  const absl::StatusOr<TrialNumber> third = Ask();
  ASSERT_THAT(third, IsOk());
  EXPECT_EQ(*third, TrialNumber(3));
  Run(*third, 1, 0.1);
  Pause(*third);
  ExpectSnapshotsAgree();
  // No trial is left to be made, and of the paused ones none is among the best half.
  EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kResourceExhausted));
  const Study ended = Get(study_.id);
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  EXPECT_EQ(ended.completed, 3);
  EXPECT_EQ(ended.best, TrialNumber(1));
  EXPECT_EQ(Get(study_.id, *third).final_metrics.at("accuracy"), 0.1);
  const std::string explanation = Get(study_.id, *third).stop->explanation;
  EXPECT_THAT(explanation, HasSubstr("rank 3 of 3"));
  EXPECT_EQ(Get(study_.id, *third).message, "stayed paused until the study ended: " + explanation);
  ExpectSnapshotsAgree();
  const auto report = studies_->Replay(study_.id);
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->problems.empty());
  EXPECT_EQ(report->stops, 4);  // Three pauses and a resumption.
  EXPECT_EQ(report->verified, 3 + 4);
}

TEST_F(PausedTrialsTest, AreNoLongerPendingForTheAlgorithm) {
  std::vector<testing::AskedFor> calls;
  UseScript([&](const testing::AskedFor& asked, Rng, const std::stop_token&) {
    calls.push_back(asked);
    return Suggestions{.points = {{.point = {{"x", 0.25}}}}};
  });
  for (const double value : {0.9, 0.5}) {
    const absl::StatusOr<TrialNumber> trial = Ask();
    ASSERT_THAT(trial, IsOk());
    Run(*trial, 1, value);
    Pause(*trial);
  }
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(calls[1].pending.empty());
  ASSERT_EQ(calls[1].finished.size(), 1u);
  EXPECT_EQ(calls[1].finished[0].outcome, Outcome::kStoppedEarly);
  EXPECT_EQ(calls[1].finished[0].values, std::vector<double>{0.9});
}

TEST_F(PausedTrialsTest, AreEndedWithTheirStudyAndCannotBeDeletedBefore) {
  const TrialNumber trial = Ask().value();
  Run(trial, 1, 0.9);
  Pause(trial);
  EXPECT_THAT(studies_->DeleteTrial({study_.id, trial}, As("user")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("PAUSED")));
  ASSERT_THAT(studies_->Stop(study_.id, "", As("user")), IsOk());
  EXPECT_EQ(Get(study_.id).state, StudyState::kCancelled);
  EXPECT_EQ(Get(study_.id, trial).state, TrialState::kCompleted);
  ASSERT_THAT(studies_->DeleteTrial({study_.id, trial}, As("user")), IsOk());
  ExpectSnapshotsAgree();
}

// Whoever asks for trials of a study that its user has paused must not end it.
TEST_F(PausedTrialsTest, StayPausedWhileTheirStudyIs) {
  for (const double value : {0.9, 0.5}) {
    const TrialNumber trial = Ask().value();
    Run(trial, 1, value);
    Pause(trial);
  }
  ASSERT_THAT(studies_->Pause(study_.id, As("user")), IsOk());
  EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Get(study_.id, TrialNumber(1)).state, TrialState::kPaused);
  ASSERT_THAT(studies_->Resume(study_.id, As("user")), IsOk());
  EXPECT_THAT(Ask().value(), TrialNumber(1));
}

// A program may report some objectives at its end only.
TEST_F(PausedTrialsTest, NeedNoValueOfEveryObjectiveUntilTheyEnd) {
  StudySpec spec = PausableSpec();
  spec.name = "two";
  spec.objectives.push_back({.metric = "latency", .goal = Goal::kMinimize});
  study_ = Create(spec);
  for (const double value : {0.9, 0.5}) {
    const TrialNumber trial = Ask().value();
    Run(trial, 1, value);
    Pause(trial);
    EXPECT_EQ(Get(study_.id, trial).state, TrialState::kPaused);
    ExpectSnapshotsAgree();
  }
  const TrialNumber first = Ask().value();
  EXPECT_EQ(first, TrialNumber(1));
  Run(first, 2, 0.95);
  ASSERT_THAT(MoveAttempt(first, AttemptState::kSucceeded), IsOk());
  ASSERT_THAT(studies_->Complete({study_.id, first},
                                 {.metrics = {{"accuracy", 0.95}, {"latency", 3}}},
                                 std::nullopt,
                                 As("engine")),
              IsOk());
  ASSERT_THAT(studies_->Stop(study_.id, "enough", As("user")), IsOk());
  EXPECT_EQ(Get(study_.id, TrialNumber(2)).state, TrialState::kCancelled);
  EXPECT_EQ(Get(study_.id, TrialNumber(2)).message, "ended while it was paused: enough");
  EXPECT_EQ(Get(study_.id).completed, 1);
  ExpectSnapshotsAgree();
}

// Their pauses bring no observation, and yet are something to judge the others by.
TEST_F(PausedTrialsTest, AreJudgedAgainWhenOneWithoutAllObjectivesCameDown) {
  StudySpec spec = PausableSpec();
  spec.name = "two";
  spec.objectives.push_back({.metric = "latency", .goal = Goal::kMinimize});
  study_ = Create(spec);
  for (const double value : {0.9, 0.5}) {
    const TrialNumber trial = Ask().value();
    Run(trial, 1, value);
    Pause(trial);
  }
  EXPECT_EQ(Ask().value(), TrialNumber(1));
}

// Stops all trials, or none, and expects the same end of each.
class SwitchedRule final : public EarlyStopper {
 public:
  explicit SwitchedRule(const bool& stops) : stops_(stops) {}
  std::string_view name() const override { return "switched"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve& /*running*/, std::span<const Curve> /*others*/) const override {
    return {.stop = stops_,
            .numbers = {{"expected_end", 0.9}, {"expected_end_deviation", 0.1}, {"best", 0.9}}};
  }

 private:
  const bool& stops_;
};

TEST_F(PausedTrialsTest, GoOnByWhatAnHourOfThemIsExpectedToGain) {
  bool stops = true;
  algorithms_ = testing::WithStopper(
      algorithms_, [&stops](Goal, const Choice&) { return std::make_unique<SwitchedRule>(stops); });
  Restart();
  StudySpec spec = PausableSpec();
  spec.name = "timed";
  study_ = Create(spec);
  for (const absl::Duration report : {absl::Minutes(10), absl::Minutes(1), absl::Minutes(5)}) {
    const TrialNumber trial = Ask().value();
    Run(trial, 1, 0.5);
    clock_.Advance(report);
    Pause(trial);
    clock_.Advance(absl::Hours(1));  // Paused, which is no time of a report.
  }
  stops = false;
  EXPECT_EQ(Ask().value(), TrialNumber(2));
  Run(TrialNumber(2), 2, 0.6);
  ASSERT_THAT(MoveAttempt(TrialNumber(2), AttemptState::kSucceeded), IsOk());
  ASSERT_THAT(studies_->Complete({study_.id, TrialNumber(2)}, {}, std::nullopt, As("engine")),
              IsOk());
  EXPECT_EQ(Ask().value(), TrialNumber(3));
}

TEST_F(PausedTrialsTest, OneThatDivergedFails) {
  StudySpec spec = PausableSpec();
  spec.name = "other";
  study_ = Create(spec);
  const TrialNumber trial = Ask().value();
  Run(trial, 1, std::nan(""));
  ASSERT_THAT(MoveAttempt(trial, AttemptState::kStopped), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kPaused), IsOk());
  EXPECT_EQ(Get(study_.id, trial).state, TrialState::kFailed);
  EXPECT_EQ(Get(study_.id, trial).failure, FailureClass::kDiverged);
}

}  // namespace
}  // namespace vernier::study
