#include "src/study/study_state.h"

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class StudyStateTest : public ::testing::Test {
 protected:
  Event Next(EventPayload payload) {
    return {.seq = EventSeq(fold_.header().last_event.value() + 1),
            .time = fold_.header().updated,
            .actor = "test",
            .request_id = "",
            .payload = std::move(payload)};
  }
  absl::Status Apply(EventPayload payload) { return fold_.Apply(Next(std::move(payload))); }
  absl::Status CreateTrial(std::int64_t number, std::string state = "") {
    TrialCreated created{.trial = TrialNumber(number), .point = {{"x", 0.5}}};
    created.suggestion.algorithm = "random";
    created.suggestion.version = "1";
    created.optimizer_state = std::move(state);
    return Apply(std::move(created));
  }
  absl::Status MoveTrial(std::int64_t number, TrialState from, TrialState to) {
    TrialStateChanged change{.trial = TrialNumber(number), .from = from, .to = to};
    if (to == TrialState::kCompleted) change.final_metrics = {{"accuracy", 0.5}};
    return Apply(std::move(change));
  }

  Event created_{.seq = EventSeq(1),
                 .time = absl::FromUnixSeconds(100),
                 .payload = StudyCreated{.spec = ClientSpec()}};
  StudyFold fold_ = StudyFold::Start(StudyId(1), created_).value();
};

TEST_F(StudyStateTest, ALogBeginsWithTheStudy) {
  created_.seq = EventSeq(2);
  EXPECT_THAT(StudyFold::Start(StudyId(1), created_), StatusIs(absl::StatusCode::kDataLoss));
  created_ = Next(StudyAmended{});
  EXPECT_THAT(StudyFold::Start(StudyId(1), created_), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Apply(StudyCreated{.spec = ClientSpec()}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(StudyStateTest, GapsAndTimeGoingBackAreDamage) {
  Event event = Next(StudyAmended{});
  event.seq = EventSeq(3);
  EXPECT_THAT(fold_.Apply(event), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("event 2")));
  event.seq = EventSeq(2);
  event.time = absl::FromUnixSeconds(99);
  EXPECT_THAT(fold_.Apply(event), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("time")));
}

TEST_F(StudyStateTest, MovesFromAnotherStateAreDamage) {
  ASSERT_THAT(CreateTrial(1), IsOk());
  EXPECT_THAT(MoveTrial(1, TrialState::kRunning, TrialState::kCompleted),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("trial 1 is REQUESTED")));
  EXPECT_THAT(MoveTrial(2, TrialState::kRequested, TrialState::kRunning),
              StatusIs(absl::StatusCode::kDataLoss, "event 3: there is no trial 2"));
  EXPECT_THAT(CreateTrial(3),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("must create trial 2")));
  EXPECT_THAT(Apply(StudyStateChanged{StudyState::kPaused, StudyState::kActive, ""}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the study is ACTIVE")));
}

TEST_F(StudyStateTest, ObservationsComeInTheOrderInWhichTrialsEnded) {
  for (int i = 1; i <= 3; ++i) ASSERT_THAT(CreateTrial(i), IsOk());
  const auto before = fold_.finished().Snapshot();
  for (const int i : {2, 1, 3}) {
    ASSERT_THAT(MoveTrial(i, TrialState::kRequested, TrialState::kRunning), IsOk());
    ASSERT_THAT(
        MoveTrial(i, TrialState::kRunning, i == 1 ? TrialState::kFailed : TrialState::kCompleted),
        IsOk());
  }
  EXPECT_EQ(before.size(), 0);  // A snapshot does not grow.
  const auto after = fold_.finished().Snapshot();
  ASSERT_EQ(after.size(), 3);
  EXPECT_EQ(after.trial(0), TrialNumber(2));
  EXPECT_EQ(after.outcome(1), Outcome::kFailed);
  EXPECT_EQ(after[2].values, std::vector<double>{0.5});
}

TEST_F(StudyStateTest, TheStateOfTheOptimiserIsThatOfTheLastSuggestion) {
  ASSERT_THAT(CreateTrial(1), IsOk());
  ASSERT_THAT(CreateTrial(2, "state of two"), IsOk());
  EXPECT_EQ(fold_.optimizer_state(), "state of two");
  EXPECT_EQ(fold_.optimizer_state_from(), EventSeq(3));
}

TEST_F(StudyStateTest, AStepReportedAgainReplacesItsPointOfTheCurve) {
  ASSERT_THAT(CreateTrial(1), IsOk());
  for (const auto& [step, value] : {std::pair{2, 0.2}, {1, 0.1}, {2, 0.3}}) {
    Measurement measurement{.step = step, .metrics = {{"accuracy", value}}};
    ASSERT_THAT(Apply(MeasurementReported{TrialNumber(1), measurement}), IsOk());
  }
  const Curve& curve = fold_.curves().Get(TrialNumber(1));
  ASSERT_EQ(curve.points.size(), 2);
  EXPECT_EQ(curve.points[0].value, 0.1);
  EXPECT_EQ(curve.points[1].value, 0.3);
}

TEST_F(StudyStateTest, OpenTrialsAreThoseThatNeitherEndedNorWait) {
  ASSERT_THAT(CreateTrial(1), IsOk());
  EXPECT_EQ(fold_.header().open, 1);
  ASSERT_THAT(Apply(TrialCreated{.trial = TrialNumber(2), .point = {{"x", 0.5}}}), IsOk());
  EXPECT_EQ(fold_.header().open, 1);  // By hand: it waits.
  ASSERT_THAT(MoveTrial(1, TrialState::kRequested, TrialState::kRunning), IsOk());
  ASSERT_THAT(MoveTrial(1, TrialState::kRunning, TrialState::kRequested), IsOk());
  EXPECT_EQ(fold_.header().open, 0);  // Offered again.
  ASSERT_THAT(MoveTrial(1, TrialState::kRequested, TrialState::kCancelled), IsOk());
  EXPECT_EQ(fold_.header().open, 0);
  EXPECT_EQ(fold_.header().trials, 2);
}

}  // namespace
}  // namespace vernier::study
