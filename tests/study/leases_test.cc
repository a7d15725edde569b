#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class LeasesTest : public StudyFixture {
 protected:
  void PassTime(absl::Duration time) {
    clock_.Advance(time);
    ASSERT_THAT(studies_->Tick(), IsOk());
  }
  Study study_ = Create(ClientSpec());  // ttl 60 s, offered again.
};

TEST_F(LeasesTest, AnExpiredLeaseOffersTheTrialToTheNextWithALargerToken) {
  const Trial lost = SuggestOne(study_.id, "w1");
  PassTime(absl::Seconds(61));
  EXPECT_EQ(Get(study_.id, lost.number).state, TrialState::kRequested);
  EXPECT_EQ(Get(study_.id).open, 0);
  const Trial again = SuggestOne(study_.id, "w2");
  EXPECT_EQ(again.number, lost.number);
  EXPECT_GT(again.lease->token, lost.lease->token);
  const auto late = Complete(study_.id, lost, 0.5);
  EXPECT_THAT(late, StatusIs(absl::StatusCode::kAborted, HasSubstr("'w2'")));
  EXPECT_EQ(GetReason(late.status()), Reason::kLeaseLost);
  EXPECT_EQ(GetReason(studies_->Heartbeat({study_.id, lost.number}, TokenOf(lost)).status()),
            Reason::kLeaseLost);
  EXPECT_THAT(Complete(study_.id, again, 0.5), IsOk());
}

TEST_F(LeasesTest, ALateResultIsAcceptedWhileNobodyElseHasTheTrial) {
  const Trial late = SuggestOne(study_.id, "w1");
  PassTime(absl::Seconds(61));
  const auto completed = Complete(study_.id, late, 0.5);
  ASSERT_THAT(completed, IsOk());
  EXPECT_EQ(completed->state, TrialState::kCompleted);
  EXPECT_EQ(Get(study_.id).completed, 1);
}

TEST_F(LeasesTest, ALateHeartbeatOrReportTakesTheTrialBack) {
  const Trial late = SuggestOne(study_.id, "w1");
  PassTime(absl::Seconds(61));
  ASSERT_THAT(studies_->Heartbeat({study_.id, late.number}, TokenOf(late)), IsOk());
  EXPECT_EQ(Get(study_.id, late.number).state, TrialState::kRunning);
  PassTime(absl::Seconds(61));
  ASSERT_THAT(Report(study_.id, late, 1, 0.5), IsOk());
  EXPECT_EQ(Get(study_.id, late.number).state, TrialState::kRunning);
  EXPECT_EQ(Get(study_.id, late.number).lease->token, late.lease->token);
}

TEST_F(LeasesTest, TheStudyMayHaveThemFailInstead) {
  StudySpec spec = ClientSpec("strict");
  spec.lease.on_expiry = LeaseExpiry::kFail;
  const Study strict = Create(spec);
  const Trial lost = SuggestOne(strict.id, "w1");
  PassTime(absl::Seconds(61));
  const Trial failed = Get(strict.id, lost.number);
  EXPECT_EQ(failed.state, TrialState::kFailed);
  EXPECT_EQ(failed.failure, FailureClass::kLost);
  EXPECT_THAT(failed.message, HasSubstr("'w1'"));
  EXPECT_EQ(GetReason(Complete(strict.id, lost, 0.5).status()), Reason::kTrialFinished);
}

TEST_F(LeasesTest, HeartbeatsKeepTheLeaseAndTheLogSmall) {
  const Trial trial = SuggestOne(study_.id, "w1");
  const EventSeq before = Get(study_.id).last_event;
  for (int i = 0; i < 60; ++i) {
    PassTime(absl::Seconds(10));
    const auto beat = studies_->Heartbeat({study_.id, trial.number}, TokenOf(trial));
    ASSERT_THAT(beat, IsOk());
    EXPECT_EQ(beat->lease->expires, clock_.Now() + absl::Seconds(60));
  }
  EXPECT_EQ(Get(study_.id, trial.number).state, TrialState::kRunning);
  const std::int64_t written = Get(study_.id).last_event.value() - before.value();
  EXPECT_GE(written, 600 / 60);
  EXPECT_LE(written, 2 * 600 / 60);
}

TEST_F(LeasesTest, AfterARestartTheStoredExpiryHolds) {
  const Trial trial = SuggestOne(study_.id, "w1");
  clock_.Advance(absl::Seconds(29));
  ASSERT_THAT(studies_->Heartbeat({study_.id, trial.number}, TokenOf(trial)), IsOk());
  Restart();
  EXPECT_EQ(Get(study_.id, trial.number).lease->expires, trial.lease->expires);
  clock_.Advance(absl::Seconds(30));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study_.id, trial.number).state, TrialState::kRunning);
  PassTime(absl::Seconds(1));
  EXPECT_EQ(Get(study_.id, trial.number).state, TrialState::kRequested);
}

TEST_F(LeasesTest, ATrialToldToStopEndsWithWhatItReportedWhenItsClientIsGone) {
  const Trial silent = SuggestOne(study_.id, "w1");
  const Trial spoke = SuggestOne(study_.id, "w2");
  ASSERT_THAT(Report(study_.id, spoke, 1, 0.75), IsOk());
  ASSERT_THAT(studies_->Stop(study_.id, "enough", As("ann")), IsOk());
  PassTime(absl::Seconds(61));
  EXPECT_EQ(Get(study_.id, silent.number).state, TrialState::kCancelled);
  EXPECT_EQ(Get(study_.id, spoke.number).state, TrialState::kCompleted);
  EXPECT_EQ(Get(study_.id, spoke.number).final_metrics.at("accuracy"), 0.75);
  EXPECT_EQ(Get(study_.id).state, StudyState::kCancelled);
}

TEST_F(LeasesTest, CallsWithoutTheLeaseAreRefused) {
  const Trial trial = SuggestOne(study_.id, "w1");
  const auto complete = [&](std::optional<LeaseToken> lease) {
    return studies_->Complete(
        {study_.id, trial.number}, {.metrics = {{"accuracy", 0.5}}}, lease, As("somebody"));
  };
  EXPECT_EQ(GetReason(complete(std::nullopt).status()), Reason::kLeaseLost);
  EXPECT_EQ(GetReason(complete(LeaseToken{"w2", 1}).status()), Reason::kLeaseLost);
  EXPECT_EQ(GetReason(complete(LeaseToken{"w1", 2}).status()), Reason::kLeaseLost);
  EXPECT_EQ(Get(study_.id, trial.number).state, TrialState::kRunning);
}

TEST_F(LeasesTest, TickReturnsTheStudiesThatAreNotFinished) {
  const Study other = Create(ClientSpec("other"));
  ASSERT_THAT(studies_->Stop(study_.id, "", As("ann")), IsOk());
  auto unfinished = studies_->Tick();
  ASSERT_THAT(unfinished, IsOk());
  ASSERT_EQ(unfinished->size(), 1);
  EXPECT_EQ(unfinished->front(), other.id);
  const Study third = Create(ClientSpec("third"));
  unfinished = studies_->Tick();
  ASSERT_EQ(unfinished->size(), 2);
  EXPECT_EQ(unfinished->back(), third.id);
}

}  // namespace
}  // namespace vernier::study
