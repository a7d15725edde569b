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

TEST_F(LeasesTest, ALeaseOfADeadClientIsEndedOnce) {
  const Trial lost = SuggestOne(study_.id, "w1");
  const TrialId id{study_.id, lost.number};
  const Caller caller{.actor = "w2", .request_id = ""};
  ASSERT_THAT(studies_->EndLease(id, TokenOf(lost), caller), IsOk());
  const Trial waiting = Get(study_.id, lost.number);
  EXPECT_EQ(waiting.state, TrialState::kRequested);
  // Another client that found the same death comes too late, before and after the trial is leased again.
  EXPECT_EQ(GetReason(studies_->EndLease(id, TokenOf(lost), caller).status()), Reason::kLeaseLost);
  const Trial again = SuggestOne(study_.id, "w2");
  EXPECT_EQ(again.number, lost.number);
  EXPECT_EQ(GetReason(studies_->EndLease(id, TokenOf(lost), caller).status()), Reason::kLeaseLost);
  EXPECT_EQ(Get(study_.id, lost.number).state, TrialState::kRunning);
  ASSERT_THAT(Complete(study_.id, again, 0.5), IsOk());
  EXPECT_EQ(GetReason(studies_->EndLease(id, TokenOf(again), caller).status()),
            Reason::kTrialFinished);
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

TEST_F(LeasesTest, ReportsKeepTheLeaseToo) {
  const Trial trial = SuggestOne(study_.id, "w1");
  for (int step = 1; step <= 20; ++step) {
    PassTime(absl::Seconds(50));
    ASSERT_THAT(Report(study_.id, trial, step, 0.5), IsOk());
  }
  const Trial kept = Get(study_.id, trial.number);
  EXPECT_EQ(kept.state, TrialState::kRunning);
  EXPECT_EQ(kept.lease->token, trial.lease->token);
  EXPECT_EQ(kept.lease->expires, clock_.Now() + absl::Seconds(60));
  PassTime(absl::Seconds(61));
  EXPECT_EQ(Get(study_.id, trial.number).state, TrialState::kRequested);
}

TEST_F(LeasesTest, AReportThatRenewsIsRepeatedAsAReport) {
  const Trial trial = SuggestOne(study_.id, "w1");
  PassTime(absl::Seconds(50));
  const auto report = [&](double value) {
    return studies_->Report(
        {study_.id, trial.number}, {Measured(1, value)}, TokenOf(trial), As("w1", "r1"));
  };
  ASSERT_THAT(report(0.5), IsOk());
  EXPECT_THAT(report(0.5), IsOk());
  EXPECT_EQ(GetReason(report(0.25).status()), Reason::kRequestReused);
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

TEST_F(LeasesTest, ALeaseIsOverWhenSomebodyAsksThoughNobodySweeps) {
  StudySpec spec = ClientSpec("narrow");
  spec.parallel = 1;
  const Study narrow = Create(spec);
  const Trial lost = SuggestOne(narrow.id, "w1");
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(GetReason(studies_->Suggest(narrow.id, 1, "w2", {.actor = "w2"}, {}).status()),
            Reason::kParallelLimit);
  clock_.Advance(absl::Seconds(2));
  const Trial again = SuggestOne(narrow.id, "w2");
  EXPECT_EQ(again.number, lost.number);
  EXPECT_GT(again.lease->token, lost.lease->token);
}

TEST_F(LeasesTest, ARepeatedRequestNamesNoTrialThatWasLost) {
  const auto ask = [&](const std::string& client, std::size_t count) {
    return studies_->Suggest(study_.id, count, client, As(client, "of-" + client), {}).value();
  };
  const std::vector<Trial> first = ask("w1", 2);
  ASSERT_THAT(Complete(study_.id, first[0], 0.5), IsOk());
  clock_.Advance(absl::Seconds(61));
  const Trial taken = ask("w2", 1).front();
  EXPECT_EQ(taken.number, first[1].number);
  // One has ended, which is what became of it; the other is w2's.
  const std::vector<Trial> again = ask("w1", 2);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].number, first[0].number);
  // Where nothing is left, the call is served as a new one, and from then on is the same again.
  clock_.Advance(absl::Seconds(61));
  SuggestOne(study_.id, "w3");
  const std::vector<Trial> fresh = ask("w2", 1);
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_NE(fresh[0].number, taken.number);
  EXPECT_EQ(fresh[0].lease->holder, "w2");
  EXPECT_EQ(ask("w2", 1).front().number, fresh[0].number);
}

TEST_F(LeasesTest, AClockThatWasPutForwardAndBackMakesNoLeaseLonger) {
  const Trial before = SuggestOne(study_.id, "w1");
  clock_.Advance(absl::Hours(1000));
  ASSERT_THAT(studies_->Heartbeat({study_.id, before.number}, TokenOf(before)), IsOk());
  const Trial during = SuggestOne(study_.id, "w2");
  clock_.Advance(-absl::Hours(1000));
  Restart();  // A process keeps its clock from jumping; the next one has the system's.
  const Trial after = SuggestOne(study_.id, "w3");
  EXPECT_LE(Get(study_.id, during.number).lease->expires, clock_.Now() + absl::Seconds(60));
  PassTime(absl::Seconds(30));
  ASSERT_THAT(studies_->Heartbeat({study_.id, after.number}, TokenOf(after)), IsOk());
  PassTime(absl::Seconds(31));
  EXPECT_EQ(Get(study_.id, before.number).state, TrialState::kRequested);
  EXPECT_EQ(Get(study_.id, during.number).state, TrialState::kRequested);
  EXPECT_EQ(Get(study_.id, after.number).state, TrialState::kRunning);
  PassTime(absl::Seconds(60));
  EXPECT_EQ(Get(study_.id, after.number).state, TrialState::kRequested);
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
