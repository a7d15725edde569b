#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class ClientWishesTest : public StudyFixture {
 protected:
  std::vector<std::int64_t> Numbers(StudyId id) {
    std::vector<std::int64_t> numbers;
    const std::vector<Trial> trials = studies_->ListTrials(id).value();
    for (const Trial& trial : trials) numbers.push_back(trial.number.value());
    return numbers;
  }
  // A completed trial.
  TrialNumber Tried(StudyId id, double x, double accuracy) {
    const auto added = studies_->AddTrial(
        id,
        {.point = {{"x", x}}, .last = Measurement{.metrics = {{"accuracy", accuracy}}}},
        As("ann"));
    EXPECT_THAT(added, IsOk());
    return added->number;
  }
};

TEST_F(ClientWishesTest, ADeletedTrialIsSeenByNobodyAndItsNumberIsNotUsedAgain) {
  const StudyId id = Create(ClientSpec()).id;
  const TrialNumber worse = Tried(id, 0.1, 0.1);
  const TrialNumber best = Tried(id, 0.2, 0.9);
  ASSERT_THAT(studies_->DeleteTrial({id, best}, As("ann")), IsOk());
  EXPECT_EQ(GetReason(studies_->GetTrial({id, best}).status()), Reason::kTrialNotFound);
  EXPECT_EQ(GetReason(studies_->DeleteTrial({id, best}, As("ann"))), Reason::kTrialNotFound);
  EXPECT_THAT(Numbers(id), ElementsAre(1));
  EXPECT_EQ(Get(id).best, worse);
  EXPECT_EQ(Get(id).completed, 1);
  EXPECT_EQ(Tried(id, 0.3, 0.5), TrialNumber(3));
  Restart();
  EXPECT_THAT(Numbers(id), ElementsAre(1, 3));
  EXPECT_EQ(Get(id).best, TrialNumber(3));
}

TEST_F(ClientWishesTest, TheAlgorithmForgetsItAndMayProposeItsPointAgain) {
  StudySpec spec = ClientSpec();
  spec.space = SpaceOf({Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
  std::vector<std::size_t> seen;
  UseScript([&](const testing::AskedFor& asked, Rng, std::stop_token) {
    seen.push_back(asked.finished.size());
    return absl::StatusOr<Suggestions>(
        Suggestions{.points = {{.point = {{"kind", std::string("a")}}, .origin = "script"}}});
  });
  const StudyId id = Create(spec).id;
  const Trial first = SuggestOne(id);
  ASSERT_THAT(Complete(id, first, 0.5), IsOk());
  ASSERT_THAT(studies_->DeleteTrial({id, first.number}, As("ann")), IsOk());
  const Trial again = SuggestOne(id);
  EXPECT_EQ(again.number, TrialNumber(2));
  EXPECT_EQ(again.point, first.point);
  EXPECT_THAT(seen, ElementsAre(0, 0));
}

TEST_F(ClientWishesTest, ATrialThatAClientHoldsIsTakenFromIt) {
  const StudyId id = Create(ClientSpec()).id;
  const Trial trial = SuggestOne(id);
  EXPECT_EQ(Get(id).open, 1);
  ASSERT_THAT(studies_->DeleteTrial({id, trial.number}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).open, 0);
  EXPECT_EQ(GetReason(Complete(id, trial, 0.5).status()), Reason::kTrialNotFound);
  EXPECT_EQ(SuggestOne(id).number, TrialNumber(2));
}

TEST_F(ClientWishesTest, ATrialWhoseJobRunsMustBeStoppedFirst) {
  const StudyId id = Create(JobSpec()).id;
  const TrialNumber trial = studies_->Ask(id, 1, As("engine"), {})->front().number;
  ASSERT_THAT(studies_->Move({id, trial}, TrialState::kQueued, FailureClass::kNone, ""), IsOk());
  EXPECT_THAT(studies_->DeleteTrial({id, trial}, As("ann")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "trial 1 is QUEUED: stop it before it is deleted"));
  ASSERT_THAT(studies_->StopTrial({id, trial}, "", As("ann")), IsOk());
  EXPECT_THAT(studies_->DeleteTrial({id, trial}, As("ann")), IsOk());
}

TEST_F(ClientWishesTest, ARepeatedRequestChangesNothing) {
  const StudyId id = Create(ClientSpec()).id;
  const TrialNumber trial = Tried(id, 0.1, 0.1);
  ASSERT_THAT(studies_->DeleteTrial({id, trial}, As("ann", "r1")), IsOk());
  const EventSeq last = Get(id).last_event;
  EXPECT_THAT(studies_->DeleteTrial({id, trial}, As("ann", "r1")), IsOk());
  EXPECT_EQ(Get(id).last_event, last);
}

// What was proposed before a deletion was proposed from what was known then.
TEST_F(ClientWishesTest, ReplayKnowsWhatWasThereWhen) {
  StudySpec spec = ClientSpec();
  spec.algorithm.name = "gp";
  const StudyId id = Create(spec).id;
  for (int i = 0; i < 14; ++i) {
    const Trial trial = SuggestOne(id);
    ASSERT_THAT(Complete(id, trial, std::get<double>(trial.point.at("x"))), IsOk());
    if (i % 5 == 4) {
      ASSERT_THAT(studies_->DeleteTrial({id, TrialNumber(i - 1)}, As("ann")), IsOk());
    }
  }
  const ReplayReport report = studies_->Replay(id).value();
  EXPECT_EQ(report.verified, 14);
  EXPECT_FALSE(report.diverged());
}

TEST_F(ClientWishesTest, AFinishedStudyIsCompletedOnceItsTrialsHaveEnded) {
  const StudyId id = Create(ClientSpec()).id;
  const Trial trial = SuggestOne(id);
  const auto finishing = studies_->Finish(id, "good enough", As("ann"));
  ASSERT_THAT(finishing, IsOk());
  EXPECT_EQ(finishing->state, StudyState::kStopping);
  EXPECT_EQ(Get(id, trial.number).state, TrialState::kStopping);
  ASSERT_THAT(Complete(id, trial, 0.5), IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(id).reason, "good enough");
  EXPECT_EQ(studies_->Finish(Create(ClientSpec("idle")).id, "", As("ann"))->state,
            StudyState::kCompleted);
}

TEST_F(ClientWishesTest, MetadataIsSetAllOrNotAtAll) {
  const StudyId id = Create(ClientSpec()).id;
  const TrialNumber trial = Tried(id, 0.1, 0.1);
  const MetadataValue one{.type = "", .content = "1"};
  const MetadataValue bytes{.type = "t/x", .content = std::string("\0\xFF", 2)};
  ASSERT_THAT(studies_->SetMetadata(id,
                                    {.study = {{{"s", "a"}, one}, {{"", "b"}, bytes}},
                                     .trials = {{trial, {{{"s", "a"}, one}}}}},
                                    As("ann")),
              IsOk());
  const MetadataValue two{.type = "", .content = "2"};
  EXPECT_EQ(GetReason(studies_->SetMetadata(
                id,
                {.study = {{{"s", "a"}, two}}, .trials = {{TrialNumber(9), {{{"", "x"}, two}}}}},
                As("ann"))),
            Reason::kTrialNotFound);
  EXPECT_EQ(Get(id).metadata, (Metadata{{{"s", "a"}, one}, {{"", "b"}, bytes}}));
  ASSERT_THAT(studies_->SetMetadata(id, {.study = {{{"s", "a"}, two}}}, As("ann")), IsOk());
  Restart();
  EXPECT_EQ(Get(id).metadata, (Metadata{{{"s", "a"}, two}, {{"", "b"}, bytes}}));
  EXPECT_EQ(Get(id, trial).metadata, (Metadata{{{"s", "a"}, one}}));
}

TEST_F(ClientWishesTest, AnAddedTrialBringsItsCurveAndItsMetadata) {
  const StudyId id = Create(ClientSpec()).id;
  const MetadataValue note{.type = "", .content = "by hand"};
  const auto added = studies_->AddTrial(id,
                                        {.point = {{"x", 0.5}},
                                         .measurements = {Measured(1, 0.2), Measured(2, 0.4)},
                                         .metadata = {{{"", "note"}, note}}},
                                        As("ann"));
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(added->state, TrialState::kRequested);
  EXPECT_EQ(added->measurements, 2);
  EXPECT_EQ(added->metadata, (Metadata{{{"", "note"}, note}}));
  const Trial held = SuggestOne(id);
  EXPECT_EQ(held.number, added->number);
  const auto completed = studies_->Complete({id, held.number}, {}, TokenOf(held), As("w1"));
  ASSERT_THAT(completed, IsOk());
  EXPECT_EQ(completed->final_metrics.at("accuracy"), 0.4);
  EXPECT_EQ(completed->final_step, 2);
  EXPECT_EQ(completed->final_elapsed, absl::Seconds(2));
  const auto infeasible =
      studies_->AddTrial(id, {.point = {{"x", 0.5}}, .infeasible = "too hot"}, As("ann"));
  ASSERT_THAT(infeasible, IsOk());
  EXPECT_EQ(infeasible->state, TrialState::kInfeasible);
  EXPECT_EQ(infeasible->message, "too hot");
  EXPECT_THAT(
      studies_->AddTrial(id, {.point = {{"x", 0.5}}, .measurements = {Measurement{}}}, As("ann")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("measurements[0].metrics")));
}

TEST_F(ClientWishesTest, LeasesThatNeverExpireNeedNoTokenAndNoHeartbeat) {
  StudySpec spec = ClientSpec();
  spec.lease.ttl = absl::InfiniteDuration();
  const StudyId id = Create(spec).id;
  const Trial trial = SuggestOne(id);
  clock_.Advance(absl::Hours(24 * 365));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(id, trial.number).state, TrialState::kRunning);
  EXPECT_EQ(SuggestOne(id).number, trial.number);
  ASSERT_THAT(studies_->Report({id, trial.number}, {Measured(1, 0.5)}, std::nullopt, As("x")),
              IsOk());
  Restart();
  EXPECT_THAT(studies_->Complete({id, trial.number}, {}, std::nullopt, As("x")), IsOk());
}

TEST_F(ClientWishesTest, ARuleThatMustNotActStopsNothingUntilItMay) {
  StudySpec spec = ClientSpec();
  spec.stopping = {.name = "median", .options = {{"min_trials", std::int64_t{1}}, {"act", false}}};
  const Study study = Create(spec);
  const StudyId id = study.id;
  for (int i = 0; i < 2; ++i) {
    const Trial good = SuggestOne(id);
    for (int step = 1; step <= 9; ++step) ASSERT_THAT(Report(id, good, step, 0.9), IsOk());
    ASSERT_THAT(Complete(id, good, 0.9), IsOk());
  }
  const Trial poor = SuggestOne(id);
  for (int step = 1; step <= 5; ++step) EXPECT_FALSE(Report(id, poor, step, 0.1)->stop);
  EXPECT_EQ(Get(id, poor.number).stop, std::nullopt);
  const Amendment change{
      .stopping = Choice{.name = "median", .options = {{"min_trials", std::int64_t{1}}}}};
  ASSERT_THAT(studies_->Amend(id, change, As("ann")), IsOk());
  const auto reported = Report(id, poor, 6, 0.1);
  ASSERT_THAT(reported, IsOk());
  EXPECT_TRUE(reported->stop);
  const ReplayReport report = studies_->Replay(id).value();
  EXPECT_EQ(report.stops, 1);
  EXPECT_FALSE(report.diverged());
}

TEST_F(ClientWishesTest, ARuleThatJudgesWhenAskedStopsNothingByItself) {
  StudySpec spec = ClientSpec();
  spec.stopping = {.name = "median", .options = {{"min_trials", std::int64_t{1}}}};
  spec.judged_when_asked = true;
  const StudyId id = Create(spec).id;
  for (int i = 0; i < 3; ++i) {
    const Trial good = SuggestOne(id);
    for (int step = 1; step <= 9; ++step) ASSERT_THAT(Report(id, good, step, 0.9), IsOk());
    ASSERT_THAT(Complete(id, good, 0.9), IsOk());
  }
  const Trial poor = SuggestOne(id);
  EXPECT_FALSE(studies_->Judge({id, poor.number}, As("w1"))->stop);  // Nothing to judge yet.
  for (int step = 1; step <= 9; ++step) {
    const auto reported = Report(id, poor, step, 0.1);
    ASSERT_THAT(reported, IsOk());
    EXPECT_FALSE(reported->stop);
  }
  const auto judged = studies_->Judge({id, poor.number}, As("w1"));
  ASSERT_THAT(judged, IsOk());
  EXPECT_TRUE(judged->stop);
  ASSERT_TRUE(judged->trial.stop.has_value());
  EXPECT_EQ(judged->trial.stop->rule, "median");
  EXPECT_TRUE(studies_->Judge({id, poor.number}, As("w1"))->stop);  // Decided already.
  const ReplayReport report = studies_->Replay(id).value();
  EXPECT_EQ(report.stops, 1);
  EXPECT_FALSE(report.diverged());
  EXPECT_EQ(report.verified, report.suggestions + 1);
}

}  // namespace
}  // namespace vernier::study
