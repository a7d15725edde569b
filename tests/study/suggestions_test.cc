#include <latch>
#include <set>
#include <thread>

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::AskedFor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

using SuggestionsTest = StudyFixture;

Suggestions At(double x, std::string state = "") {
  return {.points = {{.point = {{"x", x}}, .origin = "scripted"}}, .state = std::move(state)};
}

TEST_F(SuggestionsTest, RecordsAllThatItTakesToComputeThePointAgain) {
  const Study study = Create(ClientSpec());
  const Trial first = SuggestOne(study.id, "w1");
  const Trial second = SuggestOne(study.id, "w2");
  const SuggestionRecord& why = second.suggestion;
  EXPECT_EQ(why.algorithm, "random");
  EXPECT_FALSE(why.version.empty());
  EXPECT_EQ(why.fingerprint, NumericsFingerprint());
  EXPECT_EQ(why.stream, 2);
  EXPECT_EQ(why.batch_size, 1);
  EXPECT_THAT(why.pending, ElementsAre(first.number));
  EXPECT_EQ(why.as_of, EventSeq(4));       // Created, asked, leased, running.
  EXPECT_EQ(why.state_from, EventSeq(2));  // Where trial 1 was created.
}

TEST_F(SuggestionsTest, ComeAtOnceFromAnAlgorithmThatWasQuickAndHasNoModel) {
  const Study random = Create(ClientSpec());
  EXPECT_FALSE(studies_->SuggestsAtOnce(random.id));  // Nobody knows yet.
  SuggestOne(random.id);
  EXPECT_TRUE(studies_->SuggestsAtOnce(random.id));
  StudySpec spec = ClientSpec();
  spec.name = "model";
  spec.algorithm.name = "gp";
  const Study model = Create(spec);
  SuggestOne(model.id);
  EXPECT_FALSE(studies_->SuggestsAtOnce(model.id));
  EXPECT_FALSE(studies_->SuggestsAtOnce(StudyId(99)));
  Restart();
  EXPECT_FALSE(studies_->SuggestsAtOnce(random.id));  // It is in the store.
}

TEST_F(SuggestionsTest, ComeAtOnceNoLongerOnceOneTookItsTime) {
  absl::Duration takes;
  algorithms_ = testing::WithOptimizer(algorithms_, [&](const Problem&, const Choice&) {
    const auto suggest = [&](const AskedFor& asked, Rng, const std::stop_token&) {
      clock_.Advance(takes);
      return At(0.01 * static_cast<double>(asked.pending.size()));
    };
    return std::make_unique<testing::ScriptedOptimizer>("1", suggest, /*has_model=*/false);
  });
  Restart();
  const Study study = Create(ClientSpec());
  SuggestOne(study.id, "w1");
  EXPECT_TRUE(studies_->SuggestsAtOnce(study.id));
  takes = absl::Milliseconds(1);
  SuggestOne(study.id, "w2");
  EXPECT_FALSE(studies_->SuggestsAtOnce(study.id));
  takes = absl::ZeroDuration();
  SuggestOne(study.id, "w3");
  EXPECT_TRUE(studies_->SuggestsAtOnce(study.id));
}

TEST_F(SuggestionsTest, GivesTheClientWhatItHoldsBeforeAnythingNew) {
  const Study study = Create(ClientSpec());
  const Trial mine = SuggestOne(study.id, "w1");
  SuggestOne(study.id, "w2");
  const auto more = studies_->Suggest(study.id, 2, "w1", As("w1"), {});
  ASSERT_THAT(more, IsOk());
  ASSERT_EQ(more->size(), 2);
  EXPECT_EQ((*more)[0].number, mine.number);
  EXPECT_EQ((*more)[1].number, TrialNumber(3));
  EXPECT_EQ((*more)[0].lease->token, mine.lease->token);
}

TEST_F(SuggestionsTest, RepeatedWithItsRequestIdReturnsTheSameTrials) {
  const Study study = Create(ClientSpec());
  const auto first = studies_->Suggest(study.id, 2, "w1", As("w1", "r1"), {});
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(Complete(study.id, first->front(), 0.5), IsOk());
  Restart();
  const auto again = studies_->Suggest(study.id, 2, "w1", As("w1", "r1"), {});
  ASSERT_THAT(again, IsOk());
  ASSERT_EQ(again->size(), 2);
  EXPECT_EQ((*again)[0].number, (*first)[0].number);
  EXPECT_EQ((*again)[1], (*first)[1]);
  EXPECT_EQ(Get(study.id).trials, 2);
  EXPECT_EQ(GetReason(studies_->Suggest(study.id, 1, "w2", As("w2", "r1"), {}).status()),
            Reason::kRequestReused);
  EXPECT_EQ(GetReason(studies_->Ask(study.id, 1, As("w1", "r1"), {}).status()),
            Reason::kRequestReused);
}

TEST_F(SuggestionsTest, RepeatedReturnsTrialsInTheOrderOfTheFirstAnswer) {
  const Study study = Create(ClientSpec());
  const Trial mine = SuggestOne(study.id, "w1");
  const auto first = studies_->Suggest(study.id, 3, "w1", As("w1", "r1"), {});
  ASSERT_THAT(first, IsOk());
  ASSERT_EQ(first->size(), 3);
  EXPECT_EQ(first->front().number, mine.number);
  Restart();
  const auto again = studies_->Suggest(study.id, 3, "w1", As("w1", "r1"), {});
  ASSERT_THAT(again, IsOk());
  ASSERT_EQ(again->size(), 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*again)[i].number, (*first)[i].number);
}

TEST_F(SuggestionsTest, AskIsIdempotentToo) {
  const Study study = Create(ClientSpec());
  const auto first = studies_->Ask(study.id, 2, As("cli", "r1"), {});
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(studies_->Ask(study.id, 2, As("cli", "r1"), {}).value(), *first);
  EXPECT_EQ(Get(study.id).trials, 2);
}

TEST_F(SuggestionsTest, RefusesBadCallsWithASentence) {
  const Study study = Create(ClientSpec());
  EXPECT_THAT(studies_->Ask(study.id, 0, As("t"), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "count: must be at least 1, got 0"));
  EXPECT_THAT(studies_->Suggest(study.id, 1, "", As("t"), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "client_id: must not be empty"));
  const Study launched = Create(JobSpec("launched"));
  EXPECT_THAT(studies_->Suggest(launched.id, 1, "w1", As("t"), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("runs its own job")));
}

TEST_F(SuggestionsTest, FinishesAnExhaustedSpaceWhenTheLastTrialEnds) {
  StudySpec spec = ClientSpec();
  spec.space = SpaceOf({Choices("x", {ParameterValue("a"), ParameterValue("b")})});
  const Study study = Create(spec);
  const auto both = studies_->Suggest(study.id, 2, "w1", As("w1"), {});
  ASSERT_THAT(both, IsOk());
  ASSERT_EQ(both->size(), 2);
  EXPECT_NE((*both)[0].point, (*both)[1].point);
  const auto none = studies_->Suggest(study.id, 1, "w2", As("w2"), {});
  EXPECT_THAT(none, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(GetReason(none.status()), Reason::kSpaceExhausted);
  EXPECT_EQ(Get(study.id).state, StudyState::kActive);  // Two are still being tried.
  ASSERT_THAT(Complete(study.id, (*both)[0], 0.5), IsOk());
  ASSERT_THAT(Complete(study.id, (*both)[1], 0.5), IsOk());
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(study.id).reason, "all 2 points of the space were proposed");
}

TEST_F(SuggestionsTest, SaysWhatTheAlgorithmSaysWhereItFindsNoPoint) {
  UseScript([](const AskedFor&, Rng, std::stop_token) -> absl::StatusOr<Suggestions> {
    return absl::OutOfRangeError("no point that satisfies the constraints was found");
  });
  const Study study = Create(ClientSpec());
  const auto none = studies_->Suggest(study.id, 1, "w1", As("w1"), {});
  EXPECT_THAT(none, StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("no point that satisfies")));
  EXPECT_EQ(GetReason(none.status()), Reason::kSpaceExhausted);
  EXPECT_THAT(Get(study.id).reason, HasSubstr("no point that satisfies the constraints was found"));
}

TEST_F(SuggestionsTest, AComputationThatIsGivenUpChangesNothing) {
  UseScript([](const AskedFor&, Rng, std::stop_token) { return At(0.5); });
  const Study study = Create(ClientSpec());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), stop.get_token()),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(Get(study.id).trials, 0);
}

TEST_F(SuggestionsTest, PointsThatBreakTheContractAreNotRecorded) {
  double x = 2;
  UseScript([&x](const AskedFor&, Rng, std::stop_token) { return At(x); });
  const Study study = Create(ClientSpec());
  EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("left the space")));
  EXPECT_EQ(Get(study.id).trials, 0);
  x = 1;
  EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk());
}

TEST_F(SuggestionsTest, ADuplicateInAFiniteSpaceIsNotRecorded) {
  UseScript([](const AskedFor&, Rng, std::stop_token) {
    return Suggestions{.points = {{.point = {{"x", "a"}}, .origin = "scripted"}}, .state = ""};
  });
  StudySpec spec = ClientSpec();
  spec.space = SpaceOf({Choices("x", {ParameterValue("a"), ParameterValue("b")})});
  const Study study = Create(spec);
  ASSERT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk());
  EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("point of trial 1 again")));
}

// Holds computations open, so that a test can act in the middle of one.
class Gate {
 public:
  void Pass() {
    absl::MutexLock lock(&mu_);
    ++entered_;
    mu_.Await(absl::Condition(&open_));
  }
  void AwaitEntered(int count) {
    absl::MutexLock lock(&mu_);
    wanted_ = count;
    mu_.Await(absl::Condition(
        +[](Gate* gate) { return gate->entered_ >= gate->wanted_; }, this));
  }
  void Open() {
    absl::MutexLock lock(&mu_);
    open_ = true;
  }
  int entered() {
    absl::MutexLock lock(&mu_);
    return entered_;
  }

 private:
  absl::Mutex mu_;
  int entered_ = 0;
  int wanted_ = 0;
  bool open_ = false;
};

TEST_F(SuggestionsTest, ATrialThatEndsMeanwhileDoesNotSpoilTheComputation) {
  Gate gate;
  std::atomic<int> calls = 0;
  UseScript([&](const AskedFor& asked, Rng, std::stop_token) {
    if (++calls == 2) gate.Pass();
    return At(asked.finished.empty() ? 0.25 : 0.75, "state");
  });
  const Study study = Create(ClientSpec());
  const Trial first = SuggestOne(study.id, "w1");
  const EventSeq before = Get(study.id).last_event;
  std::thread asking([&] { EXPECT_EQ(SuggestOne(study.id, "w2").point, (Point{{"x", 0.25}})); });
  gate.AwaitEntered(1);
  EXPECT_THAT(Complete(study.id, first, 0.5),
              IsOk());  // Neither waits for the computation nor is lost.
  gate.Open();
  asking.join();
  const Trial second = Get(study.id, TrialNumber(2));
  EXPECT_EQ(second.suggestion.as_of, before);
  EXPECT_THAT(second.suggestion.pending, ElementsAre(first.number));
  EXPECT_EQ(calls, 2);
}

TEST_F(SuggestionsTest, AStudyPausedMeanwhileRecordsNothing) {
  Gate gate;
  UseScript([&](const AskedFor&, Rng, std::stop_token) {
    gate.Pass();
    return At(0.5);
  });
  const Study study = Create(ClientSpec());
  std::thread asking([&] {
    const auto refused = studies_->Ask(study.id, 1, As("t"), {});
    EXPECT_EQ(GetReason(refused.status()), Reason::kStudyNotActive);
  });
  gate.AwaitEntered(1);
  EXPECT_THAT(studies_->Pause(study.id, As("ann")), IsOk());
  gate.Open();
  asking.join();
  EXPECT_EQ(Get(study.id).trials, 0);
}

TEST_F(SuggestionsTest, ABudgetAmendedMeanwhileIsKept) {
  Gate gate;
  std::vector<std::size_t> counts;
  UseScript([&](const AskedFor& asked, Rng rng, std::stop_token) {
    counts.push_back(asked.count);
    gate.Pass();
    Suggestions suggestions;
    for (std::size_t i = 0; i < asked.count; ++i) {
      suggestions.points.push_back({.point = {{"x", rng.Uniform()}}, .origin = "scripted"});
    }
    return suggestions;
  });
  const Study study = Create(ClientSpec());
  std::thread asking([&] { EXPECT_EQ(studies_->Ask(study.id, 4, As("t"), {})->size(), 2); });
  gate.AwaitEntered(1);
  const Amendment change{.trials = 2};
  EXPECT_THAT(studies_->Amend(study.id, change, As("ann")), IsOk());
  gate.Open();
  asking.join();
  EXPECT_THAT(counts, ElementsAre(4, 2));
  EXPECT_EQ(Get(study.id).trials, 2);
}

TEST_F(SuggestionsTest, WhoWaitsForItsTurnCanGiveUp) {
  Gate gate;
  UseScript([&](const AskedFor&, Rng, std::stop_token) {
    gate.Pass();
    return At(0.5);
  });
  const Study study = Create(ClientSpec());
  std::thread first([&] { EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk()); });
  gate.AwaitEntered(1);
  std::stop_source stop;
  std::thread second([&] {
    EXPECT_THAT(studies_->Ask(study.id, 1, As("t"), stop.get_token()),
                StatusIs(absl::StatusCode::kCancelled));
  });
  stop.request_stop();
  second.join();
  gate.Open();
  first.join();
  EXPECT_EQ(gate.entered(), 1);
}

TEST_F(SuggestionsTest, ANewVersionOfTheAlgorithmIsNamedInTheLog) {
  const auto script = [](const AskedFor& asked, Rng, std::stop_token) {
    return At(0.125 * static_cast<double>(asked.pending.size()));
  };
  UseScript(script, "1");
  const Study study = Create(ClientSpec());
  ASSERT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk());
  UseScript(script, "2");
  const EventSeq before = Get(study.id).last_event;
  ASSERT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk());
  ASSERT_THAT(studies_->Ask(study.id, 1, As("t"), {}), IsOk());
  EXPECT_THAT(Kinds(study.id, before),
              ElementsAre("algorithm_changed", "trial_created", "trial_created"));
}

TEST_F(SuggestionsTest, AnAddedPointIsKeptInTheKindsOfItsParameters) {
  const Study study = Create(ClientSpec());
  const Point whole = {{"x", std::int64_t{1}}};
  const auto added = studies_->AddTrial(study.id, {.point = whole}, As("ann", "r1"));
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(added->point, (Point{{"x", 1.0}}));
  // The same request, whichever kind its numbers are of.
  for (const Point& again : {whole, added->point}) {
    const auto repeated = studies_->AddTrial(study.id, {.point = again}, As("ann", "r1"));
    ASSERT_THAT(repeated, IsOk());
    EXPECT_EQ(repeated->number, added->number);
  }
}

TEST_F(SuggestionsTest, PredictsWithTheModelOfItsAlgorithm) {
  StudySpec spec = ClientSpec();
  spec.algorithm = {.name = "gp", .options = {}};
  const Study study = Create(spec);
  const auto predict = [&](ParameterValue x) {
    return studies_->Predict(study.id, {Point{{"x", std::move(x)}}}, {});
  };
  EXPECT_THAT(predict(0.5), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("2 trials")));
  for (double x = 0; x <= 1; x += 0.25) {
    const std::map<std::string, double> metrics = {{"accuracy", 2.0 * x}};
    ASSERT_THAT(
        studies_->AddTrial(
            study.id, {.point = {{"x", x}}, .last = Measurement{.metrics = metrics}}, As("test")),
        IsOk());
  }
  const std::int64_t events = Get(study.id).last_event.value();
  const auto predicted = predict(std::int64_t{1});  // Of either kind.
  ASSERT_THAT(predicted, IsOk());
  EXPECT_NEAR(predicted->front().objective.mean, 2.0, 0.1);
  EXPECT_THAT(predict(1.5), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
  EXPECT_EQ(Get(study.id).last_event.value(), events);  // Nothing changed.
}

}  // namespace
}  // namespace vernier::study
