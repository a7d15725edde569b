// Foreign studies: their trials are stored as clients send them.
#include <cmath>

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::SizeIs;
using testing::StatusIs;

class ForeignStudiesTest : public StudyFixture {
 protected:
  static StudySpec ForeignSpec(std::string name = "digits") {
    StudySpec spec = ClientSpec(std::move(name));
    spec.space = SpaceOf({Float("x", 0, 1), Float("y", 0, 1)});
    spec.lease.ttl = absl::InfiniteDuration();
    spec.foreign = ForeignDefinition{.service = "vizier", .name = "n", .definition = "d"};
    return spec;
  }
  absl::StatusOr<Trial> Add(StudyId id,
                            Point point,
                            std::optional<std::map<std::string, double>> metrics = std::nullopt) {
    TrialAddition addition{.as_is = true, .point = std::move(point)};
    if (metrics) addition.last = Measurement{.metrics = *std::move(metrics)};
    return studies_->AddTrial(id, addition, As("vizier"));
  }
  absl::StatusOr<Trial> CompleteAsIs(StudyId id,
                                     TrialNumber trial,
                                     std::map<std::string, double> metrics) {
    return studies_->End(
        {id, trial},
        {.kind = TrialEnd::Kind::kCompletedAsIs, .last = {.metrics = std::move(metrics)}},
        std::nullopt,
        As("vizier"));
  }
  void ExpectVerified(StudyId id) {
    const ReplayReport replay = studies_->Replay(id).value();
    EXPECT_GT(replay.suggestions, 0);
    EXPECT_EQ(replay.verified, replay.suggestions);
  }
};

TEST_F(ForeignStudiesTest, WithoutAnObjectiveHasTrialsButNoBest) {
  StudySpec spec = ForeignSpec();
  spec.objectives.clear();
  const StudyId id = Create(spec).id;
  const Trial trial = SuggestOne(id);
  ASSERT_THAT(CompleteAsIs(id, trial.number, {{"a", 1}}), IsOk());
  Restart();
  EXPECT_EQ(Get(id).spec, spec);
  EXPECT_EQ(Get(id).completed, 1);
  EXPECT_EQ(Get(id).best, std::nullopt);
  EXPECT_THAT(Get(id).optimal, IsEmpty());
  ASSERT_THAT(studies_->Amend(id, {.parallel = 9}, As("ann")), IsOk());
  ExpectVerified(id);
  spec.name = "own";
  spec.foreign.reset();
  EXPECT_THAT(studies_->CreateStudy(spec, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must name a metric")));
}

TEST_F(ForeignStudiesTest, WithoutAParameterHasOnePoint) {
  StudySpec spec = ForeignSpec();
  spec.space = Space();
  const StudyId id = Create(spec).id;
  EXPECT_THAT(SuggestOne(id).point, IsEmpty());
  EXPECT_THAT(studies_->Suggest(id, 1, "w2", As("w2"), {}),
              StatusIs(absl::StatusCode::kOutOfRange));
  spec.name = "own";
  spec.foreign.reset();
  EXPECT_THAT(studies_->CreateStudy(spec, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one parameter")));
}

TEST_F(ForeignStudiesTest, ASpentSpaceDoesNotEndThem) {
  StudySpec spec = ForeignSpec();
  spec.space = SpaceOf({Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
  const StudyId id = Create(spec).id;
  for (int i = 0; i < 2; ++i) ASSERT_THAT(CompleteAsIs(id, SuggestOne(id).number, {}), IsOk());
  EXPECT_THAT(studies_->Suggest(id, 1, "w", As("w"), {}), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  const absl::StatusOr<Trial> again = Add(id, {{"kind", std::string("a")}});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(SuggestOne(id).number, again->number);
}

TEST_F(ForeignStudiesTest, NoAlgorithmKnowsOfTrialsThatLackParameters) {
  std::vector<std::size_t> finished;
  std::vector<std::vector<TrialNumber>> pending;
  UseScript([&](const testing::AskedFor& asked, Rng stream, std::stop_token) {
    finished.push_back(asked.finished.size());
    pending.emplace_back();
    for (const PendingPoint& point : asked.pending) pending.back().push_back(point.trial);
    Suggestion suggestion{.point = {{"x", stream.Uniform()}, {"y", 0.5}}, .origin = "script"};
    return absl::StatusOr<Suggestions>(Suggestions{.points = {std::move(suggestion)}});
  });
  const StudyId id = Create(ForeignSpec()).id;
  ASSERT_THAT(Add(id, {}), IsOk());
  ASSERT_THAT(Add(id, {{"x", 0.5}}, {{{"accuracy", 0.9}}}), IsOk());
  ASSERT_THAT(Add(id, {{"x", 0.5}, {"y", 0.5}}, {{{"accuracy", 0.5}}}), IsOk());
  const Trial offered = SuggestOne(id, "w1");  // The first: it is served before new ones.
  EXPECT_EQ(offered.number, TrialNumber(1));
  EXPECT_THAT(offered.point, IsEmpty());
  const Trial proposed = SuggestOne(id, "w2");
  EXPECT_THAT(proposed.suggestion.pending, IsEmpty());
  EXPECT_EQ(SuggestOne(id, "w3").suggestion.pending, std::vector{proposed.number});
  EXPECT_THAT(finished, ElementsAre(1, 1));
  EXPECT_THAT(pending, ElementsAre(IsEmpty(), ElementsAre(proposed.number)));
  ASSERT_THAT(CompleteAsIs(id, offered.number, {{"accuracy", 0.1}}), IsOk());
  ExpectVerified(id);
}

TEST_F(ForeignStudiesTest, TrialsThatLackParametersAreRankedAndForgotten) {
  const StudyId id = Create(ForeignSpec()).id;
  const TrialNumber worse = Add(id, {{"x", 0.5}}, {{{"accuracy", 0.5}}})->number;
  const TrialNumber best = Add(id, {}, {{{"accuracy", 0.9}}})->number;
  const TrialNumber whole = Add(id, {{"x", 0.5}, {"y", 0.5}}, {{{"accuracy", 0.1}}})->number;
  EXPECT_EQ(Get(id).best, best);
  ASSERT_THAT(studies_->DeleteTrial({id, whole}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).best, best);
  ASSERT_THAT(studies_->DeleteTrial({id, best}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).best, worse);
  Restart();
  EXPECT_EQ(Get(id).best, worse);
  EXPECT_EQ(Get(id, worse).point, (Point{{"x", 0.5}}));
}

TEST_F(ForeignStudiesTest, InAFiniteSpaceATrialThatLacksParametersTakesNoPoint) {
  StudySpec spec = ForeignSpec();
  const std::vector<ParameterValue> values = {ParameterValue("a"), ParameterValue("b")};
  spec.space = SpaceOf({Choices("k", values), Choices("l", values)});
  const StudyId id = Create(spec).id;
  const TrialNumber lacking = Add(id, {{"k", std::string("a")}}, {{{"accuracy", 1}}})->number;
  EXPECT_THAT(studies_->Suggest(id, 4, "w", As("w"), {}).value(), SizeIs(4));
  ASSERT_THAT(studies_->DeleteTrial({id, lacking}, As("ann")), IsOk());
}

TEST_F(ForeignStudiesTest, NoLaterStudyStartsFromTrialsThatLackParameters) {
  StudySpec spec = ForeignSpec("earlier");
  spec.space =
      SpaceOf({Float("x", 0, 1), {.name = "y", .domain = FloatDomain{}, .default_value = 0.5}});
  const StudyId id = Create(spec).id;
  ASSERT_THAT(Add(id, {{"x", 0.5}}, {{{"accuracy", 0.5}}}), IsOk());
  StudySpec warm = ClientSpec("warm");
  warm.space = spec.space;
  warm.algorithm.name = "gp";
  warm.warm_start = {"earlier"};
  EXPECT_THAT(studies_->CreateStudy(warm, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its point lacks values")));
  ASSERT_THAT(Add(id, {{"x", 0.5}, {"y", 0.5}}, {{{"accuracy", 0.5}}}), IsOk());
  EXPECT_THAT(std::get<StudyCreated>(Log(Create(warm).id).front().payload).earlier[0].trials,
              SizeIs(1));
}

TEST_F(ForeignStudiesTest, ATrialIsCompletedWithWhateverItMeasured) {
  StudySpec spec = ForeignSpec();
  spec.objectives.push_back({.metric = "latency", .goal = Goal::kMinimize});
  const StudyId id = Create(spec).id;
  const auto completed = [&](std::map<std::string, double> metrics) {
    const absl::StatusOr<Trial> trial = CompleteAsIs(id, SuggestOne(id).number, std::move(metrics));
    EXPECT_THAT(trial, IsOk());
    EXPECT_EQ(trial->state, TrialState::kCompleted);
    return trial->final_metrics;
  };
  EXPECT_THAT(completed({{"accuracy", 0.9}}), SizeIs(1));
  EXPECT_THAT(completed({{"other", 0.9}}), SizeIs(1));
  EXPECT_TRUE(std::isnan(completed({{"accuracy", std::nan("")}, {"latency", 1}}).at("accuracy")));
  EXPECT_THAT(completed({}), IsEmpty());
  EXPECT_EQ(Get(id).best, std::nullopt);
  completed({{"accuracy", 0.5}, {"latency", 1}});
  EXPECT_THAT(Get(id).optimal, ElementsAre(TrialNumber(5)));
  const auto added = Add(id, {{"x", 0.5}, {"y", 0.5}}, {{{"accuracy", 1}}});
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(added->state, TrialState::kCompleted);
  EXPECT_EQ(Get(id).completed, 6);
  Restart();
  EXPECT_THAT(Get(id).optimal, ElementsAre(TrialNumber(5)));
  ExpectVerified(id);
}

TEST_F(ForeignStudiesTest, ItTakesTheLastValueOfEachMetricWhereItIsGivenNone) {
  const StudyId id = Create(ForeignSpec()).id;
  const Trial trial = SuggestOne(id);
  Measurement other = Measured(1, 0);
  other.metrics = {{"other", 3}};
  ASSERT_THAT(studies_->Report({id, trial.number}, {other}, TokenOf(trial), As("w1")), IsOk());
  EXPECT_EQ(CompleteAsIs(id, trial.number, {})->final_metrics,
            (std::map<std::string, double>{{"other", 3}}));
}

TEST_F(ForeignStudiesTest, OtherStudiesAndInterfacesTakeWholeTrialsOnly) {
  const StudyId own = Create(ClientSpec("own")).id;
  EXPECT_THAT(Add(own, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is not foreign")));
  const Trial trial = SuggestOne(own);
  EXPECT_THAT(CompleteAsIs(own, trial.number, {{"other", 1}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is not foreign")));
  const StudyId id = Create(ForeignSpec()).id;
  EXPECT_THAT(
      studies_->AddTrial(id, {.point = {{"x", 0.5}}}, As("ann")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("point.y: must have a value")));
  EXPECT_THAT(
      Add(id, {{"x", 5.0}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("point.x: must be at most 1")));
  EXPECT_THAT(
      studies_->Complete(
          {id, SuggestOne(id).number}, {.metrics = {{"other", 1}}}, std::nullopt, As("ann")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("objective is 'accuracy'")));
}

}  // namespace
}  // namespace vernier::study
