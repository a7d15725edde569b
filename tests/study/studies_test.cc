#include "vernier/studies.h"

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

using StudiesTest = StudyFixture;

TEST_F(StudiesTest, CreateStoresTheSpecAsTheFirstEvent) {
  const Study study = Create(ClientSpec());
  EXPECT_EQ(study.state, StudyState::kActive);
  EXPECT_EQ(study.created, clock_.Now());
  EXPECT_THAT(Kinds(study.id), ElementsAre("study_created"));
  EXPECT_EQ(Get(study.id).spec, ClientSpec());
}

TEST_F(StudiesTest, CreateRefusesWhatTheRegistryRefusesAndStoresNothing) {
  StudySpec spec = ClientSpec();
  spec.algorithm.name = "randon";
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("randon")));
  spec = ClientSpec();
  spec.algorithm.name = "grid";  // Over a float without points or a step.
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
  spec = ClientSpec();
  spec.stopping.name = "medium";
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("medium")));
  spec = ClientSpec();
  spec.parallel = 0;
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parallel")));
  spec = ClientSpec();
  spec.space = Space();
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameters: must name at least one parameter to tune")));
  EXPECT_TRUE(studies_->ListStudies()->empty());
}

TEST_F(StudiesTest, CreateRefusesATakenName) {
  Create(ClientSpec());
  const auto again = studies_->CreateStudy(ClientSpec(), As("test"));
  EXPECT_THAT(again, StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'digits'")));
  EXPECT_EQ(GetReason(again.status()), Reason::kStudyExists);
}

TEST_F(StudiesTest, CreateRepeatedWithItsRequestIdReturnsTheFirstStudyEvenAfterARestart) {
  const auto first = studies_->CreateStudy(ClientSpec(), As("test", "r1"));
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(studies_->CreateStudy(ClientSpec(), As("test", "r1")).value(), *first);
  Restart();
  EXPECT_EQ(studies_->CreateStudy(ClientSpec(), As("test", "r1")).value(), *first);
  EXPECT_EQ(studies_->ListStudies()->size(), 1);
}

TEST_F(StudiesTest, CreateRefusesARequestIdThatMadeAnotherStudy) {
  ASSERT_THAT(studies_->CreateStudy(ClientSpec("a"), As("test", "r1")), IsOk());
  const auto other = studies_->CreateStudy(ClientSpec("b"), As("test", "r1"));
  EXPECT_THAT(other, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'r1'")));
  EXPECT_EQ(GetReason(other.status()), Reason::kRequestReused);
}

TEST_F(StudiesTest, UnknownStudiesAndTrialsAreNotFound) {
  EXPECT_EQ(GetReason(studies_->GetStudy(StudyId(9)).status()), Reason::kStudyNotFound);
  EXPECT_THAT(studies_->FindStudy("nobody"),
              StatusIs(absl::StatusCode::kNotFound, "there is no study 'nobody'"));
  EXPECT_THAT(studies_->Pause(StudyId(9), As("t")), StatusIs(absl::StatusCode::kNotFound));
  const Study study = Create(ClientSpec());
  const auto trial = studies_->GetTrial({study.id, TrialNumber(3)});
  EXPECT_THAT(trial, StatusIs(absl::StatusCode::kNotFound, "study 'digits' has no trial 3"));
  EXPECT_EQ(GetReason(trial.status()), Reason::kTrialNotFound);
}

TEST_F(StudiesTest, PausedStudiesTakeNoNewTrialsButRunningOnesGoOn) {
  const Study study = Create(ClientSpec());
  const Trial running = SuggestOne(study.id);
  ASSERT_THAT(studies_->Pause(study.id, As("ann")), IsOk());
  const auto refused = studies_->Suggest(study.id, 1, "w2", As("w2"), {});
  EXPECT_EQ(GetReason(refused.status()), Reason::kStudyNotActive);
  EXPECT_EQ(SuggestOne(study.id, "w1").number, running.number);  // What it holds it keeps.
  EXPECT_THAT(Complete(study.id, running, 0.5), IsOk());
  ASSERT_THAT(studies_->Resume(study.id, As("ann")), IsOk());
  EXPECT_EQ(SuggestOne(study.id, "w2").number, TrialNumber(2));
}

TEST_F(StudiesTest, IllegalMovesNameBothStatesAndChangeNothing) {
  const Study study = Create(ClientSpec());
  const auto resumed = studies_->Resume(study.id, As("ann"));
  EXPECT_THAT(resumed,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "study 'digits' is ACTIVE: only a paused study can be resumed"));
  EXPECT_EQ(GetReason(resumed.status()), Reason::kIllegalTransition);
  ASSERT_THAT(studies_->Stop(study.id, "", As("ann")), IsOk());
  EXPECT_THAT(studies_->Pause(study.id, As("ann")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(studies_->Stop(study.id, "", As("ann")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Get(study.id).last_event, EventSeq(3));
}

TEST_F(StudiesTest, StopCancelsWhatWaitsAndTellsWhatRunsToStop) {
  const Study study = Create(ClientSpec());
  const Trial running = SuggestOne(study.id);
  const Trial waiting = studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("ann")).value();
  const auto stopping = studies_->Stop(study.id, "enough", As("ann"));
  ASSERT_THAT(stopping, IsOk());
  EXPECT_EQ(stopping->state, StudyState::kStopping);
  EXPECT_EQ(Get(study.id, waiting.number).state, TrialState::kCancelled);
  const Trial told = Get(study.id, running.number);
  EXPECT_EQ(told.state, TrialState::kStopping);
  EXPECT_EQ(told.stop->rule, "study");
  EXPECT_EQ(told.stop->explanation, "enough");
  ASSERT_THAT(Complete(study.id, running, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kCancelled);
  EXPECT_EQ(Get(study.id).reason, "enough");
}

TEST_F(StudiesTest, StopEndsAnIdleStudyAtOnce) {
  const Study study = Create(ClientSpec());
  EXPECT_EQ(studies_->Stop(study.id, "", As("ann"))->state, StudyState::kCancelled);
  EXPECT_EQ(Get(study.id).reason, "stopped by ann");
}

TEST_F(StudiesTest, ANameStandsForTheStudyThatHasItNow) {
  EXPECT_EQ(GetReason(studies_->FindStudyId("digits").status()), Reason::kStudyNotFound);
  const StudyId first = Create(ClientSpec()).id;
  EXPECT_EQ(studies_->FindStudyId("digits").value(), first);
  Restart();
  EXPECT_EQ(studies_->FindStudyId("digits").value(), first);
  ASSERT_THAT(studies_->Delete("digits", false, As("ann")), IsOk());
  EXPECT_EQ(GetReason(studies_->FindStudyId("digits").status()), Reason::kStudyNotFound);
  const StudyId second = Create(ClientSpec()).id;
  EXPECT_EQ(studies_->FindStudyId("digits").value(), second);
  EXPECT_EQ(studies_->FindStudy("digits")->id, second);
}

TEST_F(StudiesTest, AmendRaisesBoundsAndRefusesThoseBelowWhatIsSpent) {
  StudySpec spec = ClientSpec();
  spec.budget.trials = 2;
  const Study study = Create(spec);
  SuggestOne(study.id, "w1");
  SuggestOne(study.id, "w2");
  Amendment change{.trials = 1};
  const auto below = studies_->Amend(study.id, change, As("ann"));
  EXPECT_THAT(below, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 2")));
  EXPECT_EQ(GetField(below.status()), "budget.trials");
  change.trials = 3;
  ASSERT_THAT(studies_->Amend(study.id, change, As("ann", "r1")), IsOk());
  EXPECT_EQ(studies_->Amend(study.id, change, As("ann", "r1"))->spec_version, 2);
  EXPECT_EQ(SuggestOne(study.id, "w3").number, TrialNumber(3));
  change.parallel = 0;
  EXPECT_THAT(studies_->Amend(study.id, change, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parallel")));
}

TEST_F(StudiesTest, AmendLeavesWhatItDoesNotName) {
  StudySpec spec = ClientSpec();
  spec.budget = {.trials = 10, .failed_trials = 3, .time = absl::Hours(1)};
  const Study study = Create(spec);
  ASSERT_THAT(studies_->Amend(study.id, {.trials = 20}, As("ann")), IsOk());
  ASSERT_THAT(studies_->Amend(study.id, {.parallel = 9}, As("bob")), IsOk());
  const std::optional<std::int64_t> unbounded;
  ASSERT_THAT(studies_->Amend(study.id, {.failed_trials = unbounded}, As("ann")), IsOk());
  EXPECT_EQ(Get(study.id).spec.budget, (Budget{.trials = 20, .time = absl::Hours(1)}));
  EXPECT_EQ(Get(study.id).spec.parallel, 9);
}

TEST_F(StudiesTest, ARepeatedAmendmentIsKnownWhateverWasAmendedSince) {
  const Study study = Create(ClientSpec());
  ASSERT_THAT(studies_->Amend(study.id, {.parallel = 9}, As("ann", "r1")), IsOk());
  ASSERT_THAT(studies_->Amend(study.id, {.trials = 20, .parallel = 3}, As("bob")), IsOk());
  Restart();
  const auto repeated = studies_->Amend(study.id, {.parallel = 9}, As("ann", "r1"));
  ASSERT_THAT(repeated, IsOk());
  EXPECT_EQ(repeated->spec.parallel, 3);
  EXPECT_EQ(repeated->spec_version, 3);
  EXPECT_EQ(GetReason(studies_->Amend(study.id, {.parallel = 8}, As("ann", "r1")).status()),
            Reason::kRequestReused);
}

using Labels = std::map<std::string, std::string>;

TEST_F(StudiesTest, AmendChangesTheLabelsThatItNames) {
  StudySpec spec = ClientSpec();
  spec.labels = {{"team", "vision"}, {"owner", "ann"}};
  const StudyId id = Create(spec).id;
  ASSERT_THAT(studies_->Amend(id, {.labels = {{"owner", "bob"}, {"stage", ""}}}, As("ann", "r1")),
              IsOk());
  EXPECT_EQ(Get(id).spec.labels, (Labels{{"team", "vision"}, {"owner", "bob"}, {"stage", ""}}));
  ASSERT_THAT(
      studies_->Amend(id, {.labels = {{"team", std::nullopt}, {"none", std::nullopt}}}, As("ann")),
      IsOk());
  EXPECT_EQ(Get(id).spec.labels, (Labels{{"owner", "bob"}, {"stage", ""}}));
  ASSERT_THAT(studies_->Amend(id, {.trials = 50}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).spec.labels, (Labels{{"owner", "bob"}, {"stage", ""}}));
  ASSERT_THAT(studies_->Amend(id, {.labels = {{"a", "b"}}, .clear_labels = true}, As("ann")),
              IsOk());
  EXPECT_EQ(Get(id).spec.labels, (Labels{{"a", "b"}}));
  ASSERT_THAT(studies_->Amend(id, {.clear_labels = true}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).spec.labels, Labels());
  Restart();
  EXPECT_EQ(Get(id).spec.labels, Labels());
  EXPECT_EQ(Get(id).spec.budget.trials, 50);
  // The first one again, known by its request.
  const auto again =
      studies_->Amend(id, {.labels = {{"owner", "bob"}, {"stage", ""}}}, As("ann", "r1"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->spec.labels, Labels());
  EXPECT_EQ(
      GetReason(studies_->Amend(id, {.labels = {{"owner", "eve"}}}, As("ann", "r1")).status()),
      Reason::kRequestReused);
}

TEST_F(StudiesTest, LabelsAloneMayChangeOnceTheStudyHasEnded) {
  const StudyId id = Create(ClientSpec()).id;
  ASSERT_THAT(studies_->Stop(id, "enough", As("ann")), IsOk());
  ASSERT_EQ(Get(id).state, StudyState::kCancelled);
  ASSERT_THAT(studies_->Amend(id, {.labels = {{"kept", "yes"}}}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).spec.labels, (Labels{{"kept", "yes"}}));
  EXPECT_EQ(Get(id).state, StudyState::kCancelled);
  EXPECT_EQ(
      GetReason(studies_->Amend(id, {.trials = 99, .labels = {{"a", "b"}}}, As("ann")).status()),
      Reason::kStudyNotActive);
  const auto refused = studies_->Amend(id, {.labels = {{"Kept", "yes"}}}, As("ann"));
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "labels: a key must begin with a lower-case letter, got 'Kept'"));
}

TEST_F(StudiesTest, AmendRefusesATimeBudgetThatIsOverAlready) {
  const Study study = Create(ClientSpec());
  clock_.Advance(absl::Hours(2));
  const Amendment change{.time = absl::Hours(1)};
  const auto refused = studies_->Amend(study.id, change, As("ann"));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 2h")));
}

TEST_F(StudiesTest, DeleteRefusesARunningStudyUnlessForced) {
  const Study study = Create(ClientSpec());
  SuggestOne(study.id);
  EXPECT_THAT(studies_->Delete("digits", false, As("ann")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has 1 trial that has not ended: wait for it, or add --force")));
  EXPECT_EQ(SuggestOne(study.id, "w2").number, TrialNumber(2));  // Still alive.
  EXPECT_THAT(studies_->Delete("digits", false, As("ann")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("2 trials that have not ended: wait for them")));
  EXPECT_THAT(studies_->Delete("digits", true, As("ann")), IsOk());
  EXPECT_THAT(studies_->GetStudy(study.id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(studies_->Delete("digits", true, As("ann")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(Create(ClientSpec()).id, study.id);
}

TEST_F(StudiesTest, ARepeatedDeletionIsKnownAndLeavesANewStudyAlone) {
  Create(ClientSpec());
  ASSERT_THAT(studies_->Delete("digits", false, As("ann", "r1")), IsOk());
  EXPECT_THAT(studies_->Delete("digits", false, As("ann", "r1")), IsOk());
  Restart();
  EXPECT_THAT(studies_->Delete("digits", false, As("ann", "r1")), IsOk());
  const Study anew = Create(ClientSpec());
  EXPECT_THAT(studies_->Delete("digits", false, As("ann", "r1")), IsOk());
  EXPECT_EQ(Get(anew.id), anew);
  EXPECT_THAT(studies_->Delete("digits", false, As("ann", "r2")), IsOk());
  EXPECT_THAT(studies_->Delete("digits", false, As("ann", "r3")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(StudiesTest, AnIdThatAnotherCallUsedDeletesNothing) {
  Create(ClientSpec("a"));
  const Study second = Create(ClientSpec("b"));
  ASSERT_THAT(studies_->Delete("a", false, As("ann", "r1")), IsOk());
  EXPECT_EQ(GetReason(studies_->Delete("b", false, As("ann", "r1"))), Reason::kRequestReused);
  ASSERT_THAT(studies_->Pause(second.id, As("ann", "r2")), IsOk());
  EXPECT_EQ(GetReason(studies_->Delete("b", false, As("ann", "r2"))), Reason::kRequestReused);
  EXPECT_EQ(Get(second.id).state, StudyState::kPaused);
}

TEST_F(StudiesTest, AddTrialIsServedBeforeNewSuggestions) {
  const Study study = Create(ClientSpec());
  const auto added = studies_->AddTrial(study.id, {.point = {{"x", 0.25}}}, As("ann", "r1"));
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(added->suggestion.origin, "user");
  EXPECT_EQ(studies_->AddTrial(study.id, {.point = {{"x", 0.25}}}, As("ann", "r1"))->number,
            added->number);
  EXPECT_EQ(
      GetReason(studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("ann", "r1")).status()),
      Reason::kRequestReused);
  EXPECT_EQ(Get(study.id).open, 0);
  const Trial handed = SuggestOne(study.id);
  EXPECT_EQ(handed.number, added->number);
  EXPECT_EQ(handed.point, (Point{{"x", 0.25}}));
  EXPECT_EQ(Get(study.id).open, 1);
}

TEST_F(StudiesTest, AddTrialWithResultsCountsAsCompleted) {
  const Study study = Create(ClientSpec());
  const auto added = studies_->AddTrial(
      study.id,
      {.point = {{"x", 0.25}}, .last = Measurement{.metrics = {{"accuracy", 0.9}}}},
      As("ann"));
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(added->state, TrialState::kCompleted);
  EXPECT_EQ(Get(study.id).best, added->number);
  EXPECT_THAT(studies_->AddTrial(
                  study.id,
                  {.point = {{"x", 0.25}}, .last = Measurement{.metrics = {{"acuracy", 0.9}}}},
                  As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'accuracy'")));
  EXPECT_THAT(studies_->AddTrial(study.id, {.point = {{"x", 7.0}}}, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
}

TEST_F(StudiesTest, BestIsOfCompletedTrialsAndTiesGoToTheEarlier) {
  const Study study = Create(ClientSpec());
  const Trial one = SuggestOne(study.id, "w1");
  const Trial two = SuggestOne(study.id, "w2");
  const Trial three = SuggestOne(study.id, "w3");
  ASSERT_THAT(Complete(study.id, three, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).best, three.number);
  ASSERT_THAT(Complete(study.id, one, 0.5), IsOk());
  EXPECT_EQ(Get(study.id).best, one.number);
  ASSERT_THAT(Complete(study.id, two, std::numeric_limits<double>::quiet_NaN()), IsOk());
  EXPECT_EQ(Get(study.id).best, one.number);
}

TEST_F(StudiesTest, WaitForEventsWakesOnlyForWhatIsThere) {
  const Study study = Create(ClientSpec());
  EXPECT_TRUE(studies_->WaitForEvents(study.id, EventSeq(0), absl::ZeroDuration(), {}));
  EXPECT_FALSE(studies_->WaitForEvents(study.id, EventSeq(1), absl::Milliseconds(1), {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(
      studies_->WaitForEvents(study.id, EventSeq(1), absl::InfiniteDuration(), stop.get_token()));
  ASSERT_THAT(studies_->Pause(study.id, As("ann")), IsOk());
  EXPECT_TRUE(studies_->WaitForEvents(study.id, EventSeq(1), absl::InfiniteDuration(), {}));
  EXPECT_FALSE(studies_->WaitForEvents(StudyId(99), EventSeq(0), absl::InfiniteDuration(), {}));
}

TEST_F(StudiesTest, ARestartFindsEverythingAsItWas) {
  const Study study = Create(ClientSpec());
  const Trial trial = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, trial, 1, 0.25), IsOk());
  const Study before = Get(study.id);
  const Trial trial_before = Get(study.id, trial.number);
  Restart();
  EXPECT_EQ(Get(study.id), before);
  EXPECT_EQ(Get(study.id, trial.number), trial_before);
  EXPECT_THAT(Complete(study.id, trial, 0.5), IsOk());
}

}  // namespace
}  // namespace vernier::study
