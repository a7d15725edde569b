#include "src/study/warm_start.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

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
  EXPECT_EQ(taken[0].count, 4);
  ASSERT_THAT(taken[0].trials, SizeIs(4));
  EXPECT_EQ(taken[0].trials[1].trial, TrialNumber(2));
  EXPECT_EQ(taken[0].trials[1].point, (Point{{"x", 0.3}}));
  EXPECT_THAT(taken[0].trials[1].values, ElementsAre(1.0));
  const Trial first = SuggestOne(warm.id);
  EXPECT_EQ(first.point, (Point{{"x", 0.3}}));
  EXPECT_EQ(first.suggestion.origin, "earlier study");
  EXPECT_EQ(first.suggestion.note, "trial 2 of study 'digits'");
  spec = Warm({"digits"});
  spec.name = "other";
  const Study other = Create(spec);
  for (int i = 0; i < 8; ++i) {
    const Trial trial = SuggestOne(other.id);
    const std::string origin = i == 0 ? "initial design" : i == 1 ? "earlier study" : "model";
    EXPECT_EQ(trial.suggestion.origin, origin) << i;  // The design has five points.
    for (const Observation& before : taken[0].trials) EXPECT_NE(trial.point, before.point);
    const double x = std::get<double>(trial.point.at("x"));
    ASSERT_THAT(Complete(other.id, trial, x), IsOk());
  }
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

// As written before a study continued its earlier ones.
TEST_F(WarmStartTest, AnOlderLogFoldsAndItsSuggestionsAreNotComparedWithThoseOfThisVersion) {
  Digits({0.9, 0.3, 0.6, 0.1, 0.2});
  const Study warm = Create(Warm({"digits"}));
  SuggestOne(warm.id);
  std::vector<Event> log = Log(warm.id);
  auto& created = std::get<StudyCreated>(log[0].payload);
  created = {.spec = created.spec,
             .earlier = {{.name = "digits", .trials = created.earlier[0].trials}}};
  auto& first = std::get<TrialCreated>(log[1].payload);
  first.point = {{"x", 0.3}};
  first.suggestion.version = "13";
  first.suggestion.stream = 1;
  first.suggestion.state_from = EventSeq(0);
  StudyFold fold = StudyFold::Start(warm.id, log[0]).value();
  Replayer replayer(warm.id, algorithms_);
  for (const Event& event : log) {
    ASSERT_THAT(replayer.Add(event), IsOk());
    if (event.seq > EventSeq(1)) {
      ASSERT_THAT(fold.Apply(event), IsOk());
    }
  }
  EXPECT_EQ(fold.next_trial(), TrialNumber(2));
  EXPECT_EQ(fold.StreamOf(TrialNumber(2)), 2);
  const ReplayReport report = std::move(replayer).Finish().value();
  ASSERT_THAT(report.problems, SizeIs(1));
  EXPECT_EQ(report.problems[0].result, ReplayReport::Line::Result::kUnverifiable);
  EXPECT_EQ(report.problems[0].detail, "made by version 13, this is 17");
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
  // In the new space they are other points than those that were tried.
  EXPECT_TRUE(taken[0].is_projected);
  EXPECT_THAT(taken[0].tried, IsEmpty());
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
  const Trial open = SuggestOne(study.id);
  const std::vector<EarlierStudy> taken = TakenBy(Create(Warm({"digits"})).id);
  ASSERT_THAT(taken[0].trials, SizeIs(1));
  EXPECT_EQ(taken[0].trials[0].trial, TrialNumber(1));
  // Their points count as tried.
  EXPECT_THAT(taken[0].tried, ElementsAre(failed.point, stopped.point, open.point));
  EXPECT_EQ(taken[0].count, 4);
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

TEST_F(WarmStartTest, FollowsAChainAndTakesEachTrialOnce) {
  StudySpec first = ClientSpec("first");
  first.outcome_constraints = {"ms <= 20"};
  Add(Create(first).id, {{"x", 0.2}}, {{"accuracy", 0.2}, {"loss", 5}, {"ms", 10}});
  StudySpec second = Warm({"first"});
  second.name = "second";
  second.objectives.push_back({.metric = "loss", .goal = Goal::kMinimize});
  second.outcome_constraints = {"ms <= 20"};
  Add(Create(second).id, {{"x", 0.4}}, {{"accuracy", 0.4}, {"loss", 4}, {"ms", 12}});
  StudySpec third = Warm({"second"});
  third.name = "third";
  third.objectives = {{.metric = "loss", .goal = Goal::kMinimize}, {.metric = "accuracy"}};
  third.outcome_constraints = {"accuracy > 0", "ms <= 20"};
  const std::vector<EarlierStudy> taken = TakenBy(Create(third).id);
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_EQ(taken[0].name, "second");
  EXPECT_EQ(taken[1].name, "first");
  ASSERT_THAT(taken[1].trials, SizeIs(1));
  EXPECT_EQ(taken[1].trials[0].point, (Point{{"x", 0.2}}));
  EXPECT_THAT(taken[1].trials[0].values, ElementsAre(5, 0.2));
  EXPECT_TRUE(std::isnan(taken[1].trials[0].slacks.at(0)));
  EXPECT_EQ(taken[1].trials[0].slacks.at(1), 10);
  third.name = "both";
  third.warm_start = {"second", "first"};
  EXPECT_THAT(TakenBy(Create(third).id), SizeIs(2));
  third.name = "without";
  third.objectives = {{.metric = "ms", .goal = Goal::kMinimize}};
  EXPECT_THAT(TakenBy(Create(third).id), SizeIs(2));  // Taken from it by itself, it has the metric.
  third.name = "alone";
  third.warm_start = {"second"};
  third.objectives.push_back({.metric = "accuracy"});
  const std::vector<EarlierStudy> alone = TakenBy(Create(third).id);
  ASSERT_THAT(alone, SizeIs(2));
  EXPECT_THAT(alone[1].trials, IsEmpty());  // Through "second", nothing is known of its metric.
  EXPECT_THAT(alone[1].tried, ElementsAre(Point{{"x", 0.2}}));
}

TEST_F(WarmStartTest, FollowsAChainNoFurtherThanTheBoundOnStudies) {
  Digits({0.3});
  std::string before = "digits";
  for (int i = 1; i <= 9; ++i) {
    StudySpec spec = Warm({before});
    spec.name = before = "s" + std::to_string(i);
    Add(Create(spec).id, {{"x", i / 10.0}}, {{"accuracy", 0.5}});
  }
  const std::vector<EarlierStudy> taken = TakenBy(Create(Warm({before})).id);
  ASSERT_THAT(taken, SizeIs(8));
  EXPECT_EQ(taken.front().name, "s9");
  EXPECT_EQ(taken.back().name, "s2");
}

TEST_F(WarmStartTest, RandomAndQuasiRandomSearchContinueTheirSequence) {
  for (const std::string algorithm : {"random", "quasi-random"}) {
    StudySpec spec = ClientSpec(algorithm);
    spec.algorithm.name = algorithm;
    spec.parallel = 100;
    const Study whole = Create(spec);
    std::vector<Point> points;
    for (int i = 0; i < 6; ++i) {
      const Trial trial = SuggestOne(whole.id);
      points.push_back(trial.point);
      ASSERT_THAT(Complete(whole.id, trial, 0.5), IsOk());
    }
    spec.name = algorithm + "-1";
    const Study first = Create(spec);
    for (int i = 0; i < 2; ++i) {
      const Trial trial = SuggestOne(first.id);
      EXPECT_EQ(trial.point, points[i]);
      ASSERT_THAT(Complete(first.id, trial, 0.5), IsOk());
    }
    spec.warm_start = {spec.name};
    spec.name = algorithm + "-2";
    const Study second = Create(spec);
    Restart();
    for (int i = 2; i < 4; ++i) {
      const Trial trial = SuggestOne(second.id);
      EXPECT_EQ(trial.number, TrialNumber(i - 1));
      EXPECT_EQ(trial.point, points[i]);
      ASSERT_THAT(Complete(second.id, trial, 0.5), IsOk());
    }
    spec.warm_start = {spec.name};
    spec.name = algorithm + "-3";
    const Study third = Create(spec);
    EXPECT_EQ(SuggestOne(third.id, "w1").point, points[4]);
    EXPECT_EQ(SuggestOne(third.id, "w2").point, points[5]);
    const ReplayReport report = studies_->Replay(third.id).value();
    EXPECT_EQ(report.verified, 2);
    EXPECT_THAT(report.problems, IsEmpty());
  }
}

TEST_F(WarmStartTest, FiniteSpacesAreExhaustedBetweenAStudyAndThoseBefore) {
  for (const std::string algorithm : {"gp", "grid", "random", "quasi-random"}) {
    StudySpec spec = ClientSpec(algorithm);
    spec.algorithm.name = algorithm;
    Parameter n{.name = "n", .domain = IntDomain{.lower = 1, .upper = 6}};
    spec.space = SpaceOf({n, Choices("kind", {std::string("a"), std::string("b")})});
    const Study first = Create(spec);
    std::set<std::string> seen;
    const auto note = [&](const Trial& trial) {
      return seen.insert(spec.space.Key(trial.point)).second;
    };
    for (int i = 0; i < 5; ++i) {
      const Trial trial = SuggestOne(first.id);
      EXPECT_TRUE(note(trial));
      ASSERT_THAT(Complete(first.id, trial, i), IsOk());
    }
    EXPECT_TRUE(note(SuggestOne(first.id)));  // It has not ended.
    spec.name = algorithm + "-on";
    spec.warm_start = {algorithm};
    const Study second = Create(spec);
    for (int i = 0; i < 6; ++i) {
      const Trial trial = SuggestOne(second.id);
      EXPECT_TRUE(note(trial)) << algorithm << " " << spec.space.Key(trial.point);
      ASSERT_THAT(Complete(second.id, trial, i), IsOk());
    }
    EXPECT_THAT(studies_->Suggest(second.id, 1, "w1", As("w1"), {}),
                StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_EQ(Get(second.id).state, StudyState::kCompleted);
    EXPECT_THAT(studies_->Replay(second.id)->problems, IsEmpty());
  }
}

TEST_F(WarmStartTest, AGridOverAnotherSpaceLeavesOutTheCellsThatWereTried) {
  StudySpec spec = ClientSpec("narrow");
  spec.algorithm.name = "grid";
  const auto n = [](std::int64_t lower, std::int64_t upper) {
    return Parameter{.name = "n", .domain = IntDomain{.lower = lower, .upper = upper}};
  };
  spec.space = SpaceOf({n(2, 4)});
  const Study narrow = Create(spec);
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(Complete(narrow.id, SuggestOne(narrow.id), 0.5), IsOk());
  }
  spec.name = "wide";
  spec.space = SpaceOf({n(1, 5)});
  spec.warm_start = {"narrow"};
  const Study wide = Create(spec);
  for (const std::int64_t next : {1, 4, 5}) {
    const Trial trial = SuggestOne(wide.id);
    EXPECT_EQ(trial.point, (Point{{"n", next}}));
    ASSERT_THAT(Complete(wide.id, trial, 0.5), IsOk());
  }
}

// --- a job that resumes another ---

class ResumedJobTest : public WarmStartTest {
 protected:
  static StudySpec Job(const std::string& name, const std::string& resumed = "") {
    StudySpec spec = JobSpec(name);
    spec.budget.trials = 3;
    spec.job->input.emplace();
    spec.job->input->hyperparameters.emplace();
    spec.job->input->hyperparameters->resume_previous_job_id = resumed;
    if (!resumed.empty()) spec.warm_start = {resumed};
    return spec;
  }
  Trial AskOne(StudyId id) {
    const auto trials = studies_->Ask(id, 1, As("engine"), {});
    EXPECT_THAT(trials, IsOk());
    return trials.ok() && !trials->empty() ? trials->front() : Trial();
  }
  void Add(StudyId id, double x) {
    WarmStartTest::Add(id, {{"x", x}}, {{"accuracy", 1 - (x - 0.3) * (x - 0.3)}});
  }
};

TEST_F(ResumedJobTest, NumbersItsTrialsBehindThoseOfTheEarlierJob) {
  const Study first = Create(Job("first"));
  for (const double x : {0.1, 0.5, 0.9}) Add(first.id, x);
  ASSERT_EQ(Get(first.id).state, StudyState::kCompleted);
  const Study second = Create(Job("second", "first"));
  Restart();
  const Trial fourth = AskOne(second.id);
  EXPECT_EQ(fourth.number, TrialNumber(4));
  EXPECT_EQ(fourth.suggestion.stream, 4);
  Add(second.id, 0.7);
  ASSERT_THAT(studies_->StopTrial({second.id, fourth.number}, "unwanted", As("test")), IsOk());
  Add(second.id, 0.6);
  const std::vector<Trial> own = studies_->ListTrials(second.id).value();
  ASSERT_THAT(own, SizeIs(3));
  EXPECT_EQ(own.front().number, TrialNumber(4));
  EXPECT_EQ(own.back().number, TrialNumber(6));
  EXPECT_THAT(studies_->GetTrial({second.id, TrialNumber(3)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(studies_->GetTrial({second.id, TrialNumber(7)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(Get(second.id).trials, 3);
  EXPECT_EQ(Get(second.id).best, TrialNumber(6));
  EXPECT_EQ(Get(second.id).state, StudyState::kCompleted);
  Restart();
  EXPECT_EQ(studies_->ListTrials(second.id).value(), own);
  EXPECT_THAT(studies_->Replay(second.id)->problems, IsEmpty());
  const Study third = Create(Job("third", "second"));
  EXPECT_EQ(AskOne(third.id).number, TrialNumber(7));
  EXPECT_THAT(TakenBy(third.id), SizeIs(2));
}

TEST_F(ResumedJobTest, StartsIfNoTrialOfTheEarlierJobCompleted) {
  const Study first = Create(Job("first"));
  const Trial trial = AskOne(first.id);
  ASSERT_THAT(studies_->Stop(first.id, "unwanted", As("test")), IsOk());
  ASSERT_EQ(Get(first.id).state, StudyState::kCancelled);
  const Study second = Create(Job("second", "first"));
  EXPECT_EQ(AskOne(second.id).number, TrialNumber(2));
  EXPECT_THAT(TakenBy(second.id)[0].trials, IsEmpty());
}

TEST_F(ResumedJobTest, RefusesAJobThatIsNotThereHasNotEndedOrTunesNothing) {
  EXPECT_EQ(WhyNot(Job("second", "first")), "warm_start[0]: there is no study 'first'");
  const Study first = Create(Job("first"));
  Add(first.id, 0.5);
  EXPECT_EQ(WhyNot(Job("second", "first")),
            "warm_start[0]: study 'first' is ACTIVE: a job can be resumed once it has ended");
  StudySpec once = JobSpec("once");
  once.objectives.clear();
  once.space = Space();
  once.budget.trials = 1;
  once.algorithm.name = "grid";
  ASSERT_THAT(studies_->Stop(Create(once).id, "unwanted", As("test")), IsOk());
  EXPECT_EQ(WhyNot(Job("second", "once")),
            "warm_start[0]: study 'once' runs a job once and tunes nothing");
  StudySpec opposite = Job("second", "first");
  opposite.objectives.front().goal = Goal::kMinimize;
  ASSERT_THAT(studies_->Stop(first.id, "unwanted", As("test")), IsOk());
  EXPECT_EQ(WhyNot(opposite),
            "warm_start[0]: study 'first' maximizes accuracy, this one minimizes it");
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
