// Several objectives and outcome constraints: what a study makes of its completed trials.

#include <cmath>

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::AskedFor;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using testing::IsOk;
using ::testing::SizeIs;
using testing::StatusIs;

using Metrics = std::map<std::string, double>;

// Accuracy up, latency down, memory bounded.
StudySpec TwoObjectives() {
  StudySpec spec = ClientSpec();
  spec.objectives.push_back({.metric = "latency_ms", .goal = Goal::kMinimize});
  spec.outcome_constraints = {"memory_mb <= 100", "latency_ms < 50 or accuracy > 0.9"};
  return spec;
}

class OptimalTrialsTest : public StudyFixture {
 protected:
  // One trial that ends with these metrics.
  Trial Try(StudyId id, const Metrics& metrics) {
    const Trial trial = SuggestOne(id);
    const auto ended =
        studies_->Complete({id, trial.number}, {.metrics = metrics}, TokenOf(trial), As("w1"));
    EXPECT_THAT(ended, IsOk());
    return ended.value_or(Trial());
  }
  std::vector<std::int64_t> Optimal(StudyId id) {
    std::vector<std::int64_t> trials;
    for (const TrialNumber trial : Get(id).optimal) trials.push_back(trial.value());
    return trials;
  }
  // What the algorithm was given last.
  void WatchTheAlgorithm() {
    UseScript([this](const AskedFor& asked, Rng, std::stop_token) -> absl::StatusOr<Suggestions> {
      asked_ = asked;
      return Suggestions{.points = {{.point = {{"x", 0.5}}, .origin = "scripted"}}, .state = ""};
    });
  }

  AskedFor asked_;
};

TEST_F(OptimalTrialsTest, BestKeepsEveryConstraint) {
  StudySpec spec = ClientSpec();
  spec.outcome_constraints = {"memory_mb <= 100"};
  const Study study = Create(spec);
  Try(study.id, {{"accuracy", 0.9}, {"memory_mb", 101}});
  EXPECT_EQ(Get(study.id).best, std::nullopt);
  EXPECT_THAT(Optimal(study.id), IsEmpty());
  Try(study.id, {{"accuracy", 0.6}, {"memory_mb", 100}});
  EXPECT_EQ(Get(study.id).best, TrialNumber(2));
  Try(study.id, {{"accuracy", 0.95}});  // Nobody knows whether it keeps the constraint.
  EXPECT_EQ(Get(study.id).best, TrialNumber(2));
  Try(study.id, {{"accuracy", 0.7}, {"memory_mb", 10}});
  EXPECT_EQ(Get(study.id).best, TrialNumber(4));
  EXPECT_THAT(Optimal(study.id), ElementsAre(4));
  EXPECT_EQ(Get(study.id).completed, 4);  // They completed all the same.
}

TEST_F(OptimalTrialsTest, OptimalAreThoseThatNoneDominates) {
  const Study study = Create(TwoObjectives());
  Try(study.id, {{"accuracy", 0.8}, {"latency_ms", 20}, {"memory_mb", 50}});
  Try(study.id, {{"accuracy", 0.85}, {"latency_ms", 40}, {"memory_mb", 50}});
  EXPECT_THAT(Optimal(study.id), ElementsAre(1, 2));
  Try(study.id, {{"accuracy", 0.99}, {"latency_ms", 1}, {"memory_mb", 200}});
  EXPECT_THAT(Optimal(study.id), ElementsAre(1, 2));
  Try(study.id, {{"accuracy", 0.85}, {"latency_ms", 15}, {"memory_mb", 50}});
  EXPECT_THAT(Optimal(study.id), ElementsAre(4));
  Try(study.id, {{"accuracy", 0.95}, {"latency_ms", 90}, {"memory_mb", 50}});
  EXPECT_THAT(Optimal(study.id), ElementsAre(4, 5));
  EXPECT_EQ(Get(study.id).best, TrialNumber(5));
}

TEST_F(OptimalTrialsTest, ATrialWithoutANumberForAnObjectiveIsNotOptimal) {
  const Study study = Create(TwoObjectives());
  Try(study.id, {{"accuracy", 0.99}, {"latency_ms", std::nan("")}, {"memory_mb", 1}});
  EXPECT_EQ(Get(study.id).failed, 1);
  EXPECT_EQ(Get(study.id).best, std::nullopt);
  EXPECT_THAT(Optimal(study.id), IsEmpty());
}

TEST_F(OptimalTrialsTest, AreTheSameAfterARestartAndInTheTables) {
  const Study study = Create(TwoObjectives());
  for (int i = 0; i < 12; ++i) {
    Try(study.id,
        {{"accuracy", 0.1 * (i * 5 % 11)},
         {"latency_ms", i * 5 % 11 + i % 3},
         {"memory_mb", i % 4 == 0 ? 120 : 80}});
  }
  const Study before = Get(study.id);
  EXPECT_GT(before.optimal.size(), 1u);
  EXPECT_EQ(studies_->ListStudies().value(), std::vector<Study>{before});
  Restart();
  EXPECT_EQ(Get(study.id), before);
}

TEST_F(OptimalTrialsTest, AlgorithmsSeeTheConstraintsAndHowFarTheyAreKept) {
  WatchTheAlgorithm();
  const Study study = Create(TwoObjectives());
  Try(study.id, {{"accuracy", 0.8}, {"latency_ms", 20}, {"memory_mb", 130}});
  Try(study.id, {{"accuracy", 0.95}, {"latency_ms", 60}});
  const Trial failed = SuggestOne(study.id);
  ASSERT_THAT(
      studies_->Fail(
          {study.id, failed.number}, FailureClass::kUserError, "", TokenOf(failed), As("w1")),
      IsOk());
  SuggestOne(study.id);
  ASSERT_THAT(asked_.finished, SizeIs(3));
  EXPECT_THAT(asked_.finished[0].slacks, ElementsAre(-30, 30));
  EXPECT_THAT(asked_.finished[1].slacks, ElementsAre(IsNan(), DoubleEq(0.95 - 0.9)));
  EXPECT_THAT(asked_.finished[1].values, ElementsAre(0.95, 60));
  EXPECT_THAT(asked_.finished[2].slacks, IsEmpty());  // Nor has it values.
}

TEST_F(OptimalTrialsTest, AnEarlyStoppedTrialIsJudgedByItsLastMetrics) {
  WatchTheAlgorithm();
  const Study study = Create(TwoObjectives());
  const Trial trial = SuggestOne(study.id);
  const TrialId id{study.id, trial.number};
  const auto report = [&](std::int64_t step, const Metrics& metrics) {
    const Measurement measurement{.step = step, .metrics = metrics};
    return studies_->Report(id, {measurement}, TokenOf(trial), As("w1"));
  };
  ASSERT_THAT(report(1, {{"accuracy", 0.5}, {"latency_ms", 9}, {"memory_mb", 70}}), IsOk());
  ASSERT_THAT(report(2, {{"accuracy", 0.6}, {"memory_mb", 90}}), IsOk());
  ASSERT_THAT(studies_->StopTrial(id, "hopeless", As("ann")), IsOk());
  ASSERT_THAT(studies_->Complete(id, {}, TokenOf(trial), As("w1")), IsOk());
  SuggestOne(study.id);
  ASSERT_THAT(asked_.finished, SizeIs(1));
  EXPECT_EQ(asked_.finished[0].outcome, Outcome::kStoppedEarly);
  EXPECT_THAT(asked_.finished[0].slacks, ElementsAre(10, 41));
  EXPECT_THAT(Optimal(study.id), ElementsAre(1));
}

TEST_F(OptimalTrialsTest, TheAlgorithmIsChosenForTheWholeProblem) {
  std::vector<Problem> problems;
  algorithms_ = testing::WithOptimizer(
      algorithms_, [&problems](const Problem& problem, const Choice& choice) {
        problems.push_back(problem);
        return AlgorithmCatalogue::BuiltIn().NewOptimizer(choice, problem);
      });
  Restart();
  const Study study = Create(TwoObjectives());
  SuggestOne(study.id);
  ASSERT_THAT(studies_->Replay(study.id), IsOk());
  ASSERT_THAT(problems, SizeIs(3));  // Checked, used, replayed.
  for (const Problem& problem : problems) {
    EXPECT_THAT(problem.objectives, SizeIs(2));
    EXPECT_EQ(problem.outcome_constraints, TwoObjectives().outcome_constraints);
  }
}

TEST_F(OptimalTrialsTest, APointTriedElsewhereBringsEveryObjective) {
  const Study study = Create(TwoObjectives());
  EXPECT_THAT(studies_->AddTrial(study.id,
                                 {.point = {{"x", 0.25}},
                                  .last = Measurement{.metrics = Metrics{{"accuracy", 0.9}}}},
                                 As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "final_metrics: must hold the objective 'latency_ms'"));
  const Metrics whole = {{"accuracy", 0.9}, {"latency_ms", 9}, {"memory_mb", 5}};
  ASSERT_THAT(
      studies_->AddTrial(
          study.id, {.point = {{"x", 0.25}}, .last = Measurement{.metrics = whole}}, As("ann")),
      IsOk());
  EXPECT_THAT(Optimal(study.id), ElementsAre(1));
}

TEST_F(OptimalTrialsTest, NewStudiesMayNotConstrainOutcomesByParameters) {
  StudySpec spec = ClientSpec();
  spec.outcome_constraints = {"x < 1"};
  EXPECT_THAT(studies_->CreateStudy(spec, As("ann")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("outcome_constraints[0]: must be over metrics, 'x' is a")));
  EXPECT_THAT(studies_->ListStudies().value(), IsEmpty());
}

// An older store may hold one, as no trial can keep.
TEST_F(OptimalTrialsTest, AStoredStudyWithSuchAConstraintStillOpens) {
  StudySpec spec = ClientSpec();
  spec.outcome_constraints = {"x < 1"};
  const Event created{.seq = EventSeq(1), .time = clock_.Now(), .payload = StudyCreated{spec}};
  const Study study = storage_.CreateStudy(created).value();
  Try(study.id, {{"accuracy", 0.9}});
  EXPECT_EQ(Get(study.id).best, std::nullopt);
}

}  // namespace
}  // namespace vernier::study
