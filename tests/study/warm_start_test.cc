#include "src/study/warm_start.h"

#include <cmath>
#include <limits>

#include "src/study/replay.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::SizeIs;
using testing::StatusIs;

class WarmStartTest : public StudyFixture {
 protected:
  static StudySpec Warm(std::vector<std::string> from) {
    StudySpec spec = ClientSpec("warm");
    spec.algorithm.name = "gp";
    spec.warm_start = std::move(from);
    return spec;
  }
  // A study called "digits" with a completed trial at each of `xs`, best at 0.3.
  Study Digits(const std::vector<double>& xs) {
    Study study = Create(ClientSpec());
    for (const double x : xs) Add(study.id, {{"x", x}}, {{"accuracy", 1 - (x - 0.3) * (x - 0.3)}});
    return study;
  }
  void Add(StudyId id, const Point& point, const std::map<std::string, double>& metrics) {
    EXPECT_THAT(studies_->AddTrial(
                    id, {.point = point, .last = Measurement{.metrics = metrics}}, As("test")),
                IsOk());
  }
  std::vector<EarlierStudy> TakenBy(StudyId id) {
    return std::get<StudyCreated>(Log(id).front().payload).earlier;
  }
  std::string WhyNot(const StudySpec& spec) {
    const auto refused = studies_->CreateStudy(spec, As("test"));
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(studies_->FindStudy(spec.name), StatusIs(absl::StatusCode::kNotFound));
    return std::string(refused.status().message());
  }
};

TEST_F(WarmStartTest, RecordsTheTrialsOfTheEarlierStudyAndMeasuresItsBestAgainOnlyIfAsked) {
  Digits({0.9, 0.3, 0.6, 0.1});
  StudySpec spec = Warm({"digits"});
  spec.algorithm.options["repeat_best"] = true;
  const Study warm = Create(spec);
  const std::vector<EarlierStudy> taken = TakenBy(warm.id);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].name, "digits");
  ASSERT_THAT(taken[0].trials, SizeIs(4));
  EXPECT_EQ(taken[0].trials[1].trial, TrialNumber(2));
  EXPECT_EQ(taken[0].trials[1].point, (Point{{"x", 0.3}}));
  EXPECT_THAT(taken[0].trials[1].values, ElementsAre(1.0));
  const Trial first = SuggestOne(warm.id);
  EXPECT_EQ(first.point, (Point{{"x", 0.3}}));
  EXPECT_EQ(first.suggestion.origin, "earlier study");
  EXPECT_EQ(first.suggestion.note, "trial 2 of study 'digits'");
}

TEST_F(WarmStartTest, OutlivesTheEarlierStudyAndARestartAndReplays) {
  Digits({0.9, 0.3, 0.6, 0.1});
  const Study warm = Create(Warm({"digits"}));
  ASSERT_THAT(studies_->Delete("digits", false, As("test")), IsOk());
  for (int i = 0; i < 7; ++i) {
    if (i == 4) Restart();
    const Trial trial = SuggestOne(warm.id);
    const double x = std::get<double>(trial.point.at("x"));
    ASSERT_THAT(Complete(warm.id, trial, 2 - std::abs(x - 0.35)), IsOk());
  }
  const ReplayReport report = studies_->Replay(warm.id).value();
  EXPECT_EQ(report.verified, 7);
  EXPECT_THAT(report.problems, IsEmpty());
}

TEST_F(WarmStartTest, TakesWhatFitsTheNewSpaceAndFillsInDefaults) {
  StudySpec old = ClientSpec();
  old.space = SpaceOf({Float("x", 0, 10), Choices("kind", {std::string("a"), std::string("b")})});
  const Study study = Create(old);
  const auto point = [](double x, std::string kind) {
    return Point{{"x", x}, {"kind", std::move(kind)}};
  };
  Add(study.id, point(0.5, "a"), {{"accuracy", 0.5}});
  Add(study.id, point(7.0, "a"), {{"accuracy", 0.6}});  // Beyond the new range of x.
  Add(study.id, point(0.7, "b"), {{"accuracy", std::numeric_limits<double>::infinity()}});
  Add(study.id, point(0.2, "b"), {{"accuracy", 0.7}});
  StudySpec spec = Warm({"digits"});
  Parameter width{.name = "width", .domain = IntDomain{.lower = 1, .upper = 64}};
  width.default_value = std::int64_t{32};
  spec.space = SpaceOf({Float("x", 0, 1), width});
  const std::vector<EarlierStudy> taken = TakenBy(Create(spec).id);
  ASSERT_THAT(taken[0].trials, SizeIs(2));
  EXPECT_EQ(taken[0].trials[0].point, (Point{{"x", 0.5}, {"width", std::int64_t{32}}}));
  EXPECT_EQ(taken[0].trials[1].trial, TrialNumber(4));
}

TEST_F(WarmStartTest, TakesNeitherFailedNorOpenTrialsNorThoseStoppedEarly) {
  StudySpec old = ClientSpec();
  old.stopping = {.name = "median", .options = {{"min_trials", std::int64_t{1}}}};
  const Study study = Create(old);
  Add(study.id, {{"x", 0.25}}, {{"accuracy", 1.0}});
  const Trial failed = SuggestOne(study.id);
  ASSERT_THAT(
      studies_->Fail(
          {study.id, failed.number}, FailureClass::kUserError, "broke", TokenOf(failed), As("w1")),
      IsOk());
  const Trial stopped = SuggestOne(study.id);
  ASSERT_THAT(Report(study.id, stopped, 1, 0.1), IsOk());
  ASSERT_THAT(studies_->StopTrial({study.id, stopped.number}, "unwanted", As("test")), IsOk());
  ASSERT_THAT(Complete(study.id, stopped, 0.1), IsOk());
  SuggestOne(study.id);
  const std::vector<EarlierStudy> taken = TakenBy(Create(Warm({"digits"})).id);
  ASSERT_THAT(taken[0].trials, SizeIs(1));
  EXPECT_EQ(taken[0].trials[0].trial, TrialNumber(1));
}

TEST_F(WarmStartTest, KnowsHowFarEarlierTrialsKeepTheNewConstraints) {
  const Study study = Create(ClientSpec());
  Add(study.id, {{"x", 0.5}}, {{"accuracy", 0.5}, {"latency_ms", 15}});
  Add(study.id, {{"x", 0.6}}, {{"accuracy", 0.6}});
  StudySpec spec = Warm({"digits"});
  spec.outcome_constraints = {"latency_ms <= 20"};
  const std::vector<EarlierStudy> taken = TakenBy(Create(spec).id);
  ASSERT_THAT(taken[0].trials, SizeIs(2));
  EXPECT_THAT(taken[0].trials[0].slacks, ElementsAre(5.0));
  EXPECT_TRUE(std::isnan(taken[0].trials[1].slacks.at(0)));
}

TEST_F(WarmStartTest, RefusesWhatItCannotLearnFromAndStoresNothing) {
  EXPECT_EQ(WhyNot(Warm({"digits"})), "warm_start[0]: there is no study 'digits'");
  const Study study = Create(ClientSpec());
  EXPECT_EQ(WhyNot(Warm({"digits"})),
            "warm_start[0]: study 'digits' has no completed trial to start from");
  Add(study.id, {{"x", 0.5}}, {{"accuracy", 0.5}});
  StudySpec other = Warm({"digits"});
  other.space = SpaceOf({Float("y", 0, 1)});
  EXPECT_EQ(WhyNot(other),
            "warm_start[0]: no completed trial of study 'digits' fits this one; trial 1: it "
            "has no y, which has no default");
  other = Warm({"digits"});
  other.objectives.front().metric = "loss";
  EXPECT_THAT(WhyNot(other), HasSubstr("trial 1: it has no value of loss"));
  other = Warm({"digits"});
  other.space = SpaceOf({Float("x", 2, 3)});
  EXPECT_THAT(WhyNot(other), AllOf(HasSubstr("x"), HasSubstr("0.5")));
  other = Warm({});
  other.algorithm.options["repeat_best"] = true;
  EXPECT_EQ(WhyNot(other), "algorithm.repeat_best: needs warm_start");
  EXPECT_EQ(WhyNot(Warm({"digits", "digits"})), "warm_start[1]: study 'digits' is named twice");
  EXPECT_EQ(WhyNot(Warm({"a", "b", "c", "d", "e", "f", "g", "h", "i"})),
            "warm_start: must name at most 8 studies, got 9");
}

TEST_F(WarmStartTest, RefusesAnEarlierStudyWithTheOppositeGoal) {
  StudySpec old = ClientSpec();
  old.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  const Study study = Create(old);
  Add(study.id, {{"x", 0.5}}, {{"accuracy", 0.5}, {"latency_ms", 15}});
  StudySpec spec = Warm({"digits"});
  spec.objectives.front().goal = Goal::kMinimize;
  EXPECT_EQ(WhyNot(spec),
            "warm_start[0]: study 'digits' maximizes accuracy, this one minimizes it");
  spec = Warm({"digits"});
  spec.objectives = {{.metric = "accuracy"}, {.metric = "latency_ms", .goal = Goal::kMaximize}};
  EXPECT_EQ(WhyNot(spec),
            "warm_start[0]: study 'digits' minimizes latency_ms, this one maximizes it");
  spec.objectives = {{.metric = "latency_ms", .goal = Goal::kMinimize}};
  EXPECT_THAT(studies_->CreateStudy(spec, As("test")), IsOk());
}

TEST_F(WarmStartTest, APreviewSaysWhatCreationWouldAndStoresNothing) {
  Digits({0.9, 0.3});
  const Study preview = studies_->PreviewStudy(Warm({"digits"})).value();
  EXPECT_EQ(preview.spec, Warm({"digits"}));
  EXPECT_EQ(studies_->ListStudies()->size(), 1);
  EXPECT_THAT(
      studies_->PreviewStudy(Warm({"nobody"})),
      StatusIs(absl::StatusCode::kInvalidArgument, "warm_start[0]: there is no study 'nobody'"));
  EXPECT_THAT(studies_->PreviewStudy(ClientSpec("digits")),
              StatusIs(absl::StatusCode::kAlreadyExists, "there is already a study 'digits'"));
}

TEST_F(WarmStartTest, RepeatedCreationReturnsTheFirstStudyEvenIfTheEarlierOneIsGone) {
  Digits({0.9, 0.3});
  const Study warm = studies_->CreateStudy(Warm({"digits"}), As("test", "r1")).value();
  ASSERT_THAT(studies_->Delete("digits", false, As("test")), IsOk());
  EXPECT_EQ(studies_->CreateStudy(Warm({"digits"}), As("test", "r1")).value(), warm);
}

}  // namespace
}  // namespace vernier::study
