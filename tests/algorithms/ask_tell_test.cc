#include "vernier/ask_tell.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/extreme_values.h"
#include "tests/support/scripted_optimizer.h"
#include "tests/support/status_matchers.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::IsOk;
using ::vernier::testing::kNan;
using ::vernier::testing::MakeProblem;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;

Problem SmallProblem(Goal goal = Goal::kMaximize) {
  return MakeProblem(MakeSpace({Int("n", 1, 6)}), goal);
}
AskTell Make(const Problem& problem,
             const std::string& algorithm = "random",
             std::uint64_t seed = 1) {
  return AskTell::Create(problem, {.name = algorithm}, seed).value();
}

TEST(AskTell, NumbersTrialsFromOneAndNeverAsksAPointTwice) {
  AskTell study = Make(SmallProblem());
  std::set<Point> points;
  for (std::int64_t trial = 1; trial <= 6; ++trial) {
    ASSERT_OK_AND_ASSIGN(const std::vector<AskTell::Asked> asked, study.Ask());
    ASSERT_THAT(asked, SizeIs(1));
    EXPECT_EQ(asked[0].trial, TrialNumber(trial));
    EXPECT_TRUE(points.insert(asked[0].suggestion.point).second);
    if (trial % 2 == 0) {
      EXPECT_THAT(study.Tell(asked[0].trial, {1.0}), IsOk());
    }
  }
  EXPECT_THAT(study.Ask(), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(AskTell, ReturnsFewerOnlyIfTheSpaceHasNoMore) {
  AskTell study = Make(SmallProblem(), "grid");
  EXPECT_THAT(study.Ask(4).value(), SizeIs(4));
  EXPECT_THAT(study.Ask(4).value(), SizeIs(2));
}

// Stops every trial at its second report, and expects it to end at 7.
class SecondReport final : public EarlyStopper {
 public:
  std::string_view name() const override { return "second-report"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    Verdict verdict{.stop = running.points.size() >= 2};
    verdict.numbers["others"] = static_cast<double>(others.size());
    verdict.numbers["coordinates"] = static_cast<double>(running.coordinates.size());
    verdict.numbers[kExpectedEndNumber] = 7;
    verdict.numbers[kExpectedEndDeviationNumber] = 0.5;
    return verdict;
  }
};

TEST(AskTell, ReportsAreJudged) {
  AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  ASSERT_THAT(
      catalogue.AddStoppingRule(
          "second-report", [](Goal, const Choice&) { return std::make_unique<SecondReport>(); }),
      IsOk());
  ASSERT_OK_AND_ASSIGN(
      AskTell study,
      AskTell::Create(SmallProblem(), {.name = "random"}, 1, catalogue, {.name = "second-report"}));
  ASSERT_THAT(study.Ask(3), IsOk());
  ASSERT_OK_AND_ASSIGN(const Verdict first, study.Report(TrialNumber(1), 10, 0.5));
  EXPECT_FALSE(first.stop);
  EXPECT_EQ(first.numbers.at("others"), 2);
  EXPECT_EQ(first.numbers.at("coordinates"), SmallProblem().space.parameters().size());
  EXPECT_FALSE(study.Report(TrialNumber(1), 10, 0.6)->stop) << "the same step again";
  EXPECT_TRUE(study.Report(TrialNumber(1), 20, 0.6)->stop);
  EXPECT_THAT(study.TellStopped(TrialNumber(1), {0.6}), IsOk());
  const Observation stopped = study.Optimal().front();
  EXPECT_EQ(stopped.outcome, Outcome::kStoppedEarly);
  EXPECT_EQ(stopped.expected_end, (ExpectedEnd{.mean = 7, .deviation = 0.5}));
  // One that ends by itself is measured.
  EXPECT_TRUE(study.Report(TrialNumber(2), 1, 3).ok());
  EXPECT_THAT(study.Tell(TrialNumber(2), {3.0}), IsOk());
  EXPECT_EQ(study.Best()->expected_end, std::nullopt);
  EXPECT_THAT(study.Report(TrialNumber(2), 2, 3), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(study.Report(TrialNumber(9), 2, 3), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(study.TellStopped(TrialNumber(3), {}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(study.TellFailed(TrialNumber(3)), IsOk());
}

TEST(AskTell, StoppedTrialsGoOnWhenTheRuleTakesItsVerdictBack) {
  const Choice promotion = {.name = "asha",
                            .options = {{"type", std::string("promotion")},
                                        {"min_resource", std::int64_t{1}},
                                        {"reduction_factor", std::int64_t{2}}}};
  const AlgorithmCatalogue catalogue = AlgorithmCatalogue::BuiltIn();
  EXPECT_THAT(
      AskTell::Create(SmallProblem(Goal::kMinimize), {.name = "random"}, 1, catalogue, promotion),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("can go on after a stop")));
  ASSERT_OK_AND_ASSIGN(AskTell study,
                       AskTell::Create(SmallProblem(Goal::kMinimize),
                                       {.name = "random"},
                                       1,
                                       catalogue,
                                       promotion,
                                       /*pausing=*/true));
  const auto stop = [&](std::int64_t trial, std::int64_t step, double value) {
    EXPECT_TRUE(study.Report(TrialNumber(trial), step, value)->stop) << trial;
    EXPECT_THAT(study.TellStopped(TrialNumber(trial), {value}), IsOk());
  };
  const Point first = study.Ask().value()[0].suggestion.point;
  stop(1, 1, 0.5);
  EXPECT_EQ(study.Best()->trial, TrialNumber(1)) << "what is paused has a result";
  EXPECT_THAT(study.Report(TrialNumber(1), 2, 1), StatusIs(absl::StatusCode::kFailedPrecondition));
  const auto second = study.Ask();
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->front().trial, TrialNumber(2));
  EXPECT_EQ(second->front().resume_from, std::nullopt);
  stop(2, 1, 0.7);  // Minimized: the first one is the better half now.
  ASSERT_OK_AND_ASSIGN(const std::vector<AskTell::Asked> asked, study.Ask(2));
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].trial, TrialNumber(1));
  EXPECT_EQ(asked[0].resume_from, 1);
  EXPECT_EQ(asked[0].suggestion.point, first);
  EXPECT_EQ(asked[1].trial, TrialNumber(3));
  EXPECT_THAT(study.Report(TrialNumber(1), 2, 0.1), IsOk());
  EXPECT_THAT(study.Tell(TrialNumber(1), {0.1}), IsOk());
  EXPECT_EQ(study.Best()->trial, TrialNumber(1));
  EXPECT_EQ(study.Best()->values, std::vector<double>{0.1});
  EXPECT_EQ(study.Optimal().size(), 1u);
}

TEST(AskTell, WithoutARuleNoTrialIsStopped) {
  AskTell study = Make(SmallProblem());
  ASSERT_THAT(study.Ask(), IsOk());
  EXPECT_FALSE(study.Report(TrialNumber(1), 1, kNan)->stop);
}

TEST(AskTell, IsDeterministicInItsSeedAndCalls) {
  const Problem problem = MakeProblem(MakeSpace({Float("x", 0, 1)}));
  for (const char* algorithm : {"random", "quasi-random"}) {
    AskTell one = Make(problem, algorithm, 5);
    AskTell same = Make(problem, algorithm, 5);
    AskTell other = Make(problem, algorithm, 6);
    const Point point = one.Ask().value()[0].suggestion.point;
    EXPECT_EQ(same.Ask().value()[0].suggestion.point, point);
    EXPECT_NE(other.Ask().value()[0].suggestion.point, point);
  }
}

TEST(AskTell, GivesEachBatchTheStreamOfItsFirstTrial) {
  const Problem problem = MakeProblem(MakeSpace({Float("x", 0, 1)}));
  const auto optimizer =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "random"}, problem).value();
  const auto expected = [&](std::uint64_t trial, std::size_t count) {
    return optimizer->Suggest({}, {}, "", Rng(8).Fork(trial), count, {})
        .value()
        .points.back()
        .point;
  };
  AskTell study = Make(problem, "random", 8);
  EXPECT_EQ(study.Ask(3).value()[2].suggestion.point, expected(1, 3));
  EXPECT_EQ(study.Ask(1).value()[0].suggestion.point, expected(4, 1));
}

TEST(AskTell, AnAlgorithmOfOnesOwnThatIsWrongEndsNothing) {
  std::vector<Suggestion> proposed;
  AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn();
  const auto propose = [&](const testing::AskedFor& asked, Rng, std::stop_token) {
    return Suggestions{.points = proposed, .state = asked.state};
  };
  ASSERT_THAT(algorithms.AddAlgorithm("own",
                                      [&](const Problem&, const Choice&) {
                                        return std::make_unique<testing::ScriptedOptimizer>(
                                            "1", propose);
                                      }),
              IsOk());
  AskTell study = AskTell::Create(SmallProblem(), {.name = "own"}, 1, algorithms).value();
  EXPECT_THAT(
      study.Ask(),
      StatusIs(absl::StatusCode::kInternal, "algorithm 'scripted' proposed 0 points, asked for 1"));
  proposed = {{.point = {{"n", std::int64_t{7}}}}};
  EXPECT_THAT(
      study.Ask(),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("algorithm 'scripted' left the space: ")));
  proposed = {{.point = {{"n", std::int64_t{6}}}}};
  ASSERT_OK_AND_ASSIGN(const std::vector<AskTell::Asked> asked, study.Ask());
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].trial, TrialNumber(1)) << "nothing of the others is left";
  EXPECT_THAT(study.Tell(asked[0].trial, {0.5}), IsOk());
}

TEST(AskTell, RefusesToBeToldTwiceOrOfStrangers) {
  AskTell study = Make(SmallProblem());
  const TrialNumber trial = study.Ask().value()[0].trial;
  EXPECT_THAT(study.Tell(trial, {1.0, 2.0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "values: needs one for each of 1 objectives, got 2"));
  EXPECT_THAT(study.Tell(trial, {1.0}), IsOk());
  EXPECT_THAT(study.Tell(trial, {1.0}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(study.TellFailed(trial), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(study.Tell(TrialNumber(9), {1.0}),
              StatusIs(absl::StatusCode::kNotFound, "trial 9 was never asked for"));
}

TEST(AskTell, KnowsTheBestByItsGoalAndPassesOverNanAndFailures) {
  for (const Goal goal : {Goal::kMaximize, Goal::kMinimize}) {
    AskTell study = Make(SmallProblem(goal));
    EXPECT_EQ(study.Best(), std::nullopt);
    const std::vector<AskTell::Asked> asked = study.Ask(5).value();
    EXPECT_THAT(study.TellFailed(asked[0].trial), IsOk());
    EXPECT_THAT(study.Tell(asked[1].trial, {kNan}), IsOk());
    EXPECT_EQ(study.Best(), std::nullopt);
    EXPECT_THAT(study.Tell(asked[2].trial, {3.0}), IsOk());
    EXPECT_THAT(study.Tell(asked[3].trial, {goal == Goal::kMaximize ? 4.0 : 2.0}), IsOk());
    EXPECT_THAT(study.Tell(asked[4].trial, {3.5}), IsOk());
    ASSERT_TRUE(study.Best().has_value());
    EXPECT_EQ(study.Best()->trial, asked[3].trial);
  }
}

Problem TwoObjectives() {
  Problem problem = SmallProblem();
  problem.objectives = {{.metric = "accuracy", .goal = Goal::kMaximize},
                        {.metric = "latency_ms", .goal = Goal::kMinimize}};
  problem.outcome_constraints = {"memory_mb <= 100"};
  return problem;
}

std::vector<std::int64_t> Trials(const std::vector<Observation>& told) {
  std::vector<std::int64_t> trials;
  for (const Observation& trial : told) trials.push_back(trial.trial.value());
  return trials;
}

TEST(AskTell, KnowsTheParetoSetOfWhatKeepsTheConstraints) {
  AskTell study = Make(TwoObjectives());
  EXPECT_THAT(study.Optimal(), IsEmpty());
  ASSERT_THAT(study.Ask(5), IsOk());
  EXPECT_THAT(study.Tell(TrialNumber(1), {0.9, 30.0}, {1.0}), IsOk());
  EXPECT_THAT(study.Tell(TrialNumber(3), {0.8, 10.0}, {0.0}), IsOk());
  EXPECT_THAT(study.Tell(TrialNumber(2), {0.8, 20.0}, {5.0}), IsOk());  // Trial 3 is better.
  EXPECT_THAT(study.Tell(TrialNumber(4), {0.99, 1.0}, {-0.1}), IsOk());
  EXPECT_THAT(study.Tell(TrialNumber(5), {0.99, 1.0}, {kNan}), IsOk());
  EXPECT_THAT(Trials(study.Optimal()), ElementsAre(1, 3));
  EXPECT_EQ(study.Best()->trial, TrialNumber(1));
  EXPECT_EQ(study.Best()->slacks, std::vector<double>{1.0});
}

TEST(AskTell, OptimalIsJustTheBestWhereThereIsOneObjective) {
  AskTell study = Make(SmallProblem());
  for (std::int64_t n = 1; n <= 3; ++n) {
    EXPECT_THAT(study.Add({{"n", n}}, {n == 1 ? 1.0 : 2.0}), IsOk());
  }
  EXPECT_THAT(Trials(study.Optimal()), ElementsAre(2));
}

TEST(AskTell, WantsOneSlackForEachOutcomeConstraint) {
  AskTell study = Make(TwoObjectives());
  const TrialNumber trial = study.Ask().value()[0].trial;
  EXPECT_THAT(study.Tell(trial, {0.9, 30.0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "slacks: needs one for each of 1 outcome constraints, got 0"));
  EXPECT_THAT(study.Add({{"n", std::int64_t{1}}}, {0.9, 30.0}, {1.0, 2.0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "slacks: needs one for each of 1 outcome constraints, got 2"));
  EXPECT_THAT(study.Tell(trial, {0.9, 30.0}, {1.0}), IsOk());  // It can be told still.
}

TEST(AskTell, TakesPointsThatWereTriedElsewhere) {
  AskTell study = Make(SmallProblem());
  EXPECT_THAT(study.Add({{"n", std::int64_t{3}}}, {7.0}), IsOk());
  EXPECT_EQ(study.Best()->point, (Point{{"n", std::int64_t{3}}}));
  EXPECT_THAT(study.Ask(9).value(), SizeIs(5));
  EXPECT_THAT(study.Add({{"n", std::int64_t{30}}}, {7.0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(study.Add({{"n", std::int64_t{1}}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AskTell, TakesNumbersOfEitherKindForWhatTheParameterHolds) {
  AskTell study = Make(SmallProblem());
  EXPECT_THAT(study.Add({{"n", 3.0}}, {7.0}), IsOk());
  EXPECT_EQ(study.Best()->point, (Point{{"n", std::int64_t{3}}}));
  EXPECT_THAT(study.Ask(9).value(), SizeIs(5));  // That one is taken.
  EXPECT_THAT(study.Add({{"n", 2.5}}, {7.0}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AskTell, PredictsWhereItsAlgorithmHasAModel) {
  const Problem problem = {
      .space =
          Space::Create({{.name = "n", .domain = FloatDomain{.lower = 0, .upper = 10}}}).value(),
      .objectives = {{.metric = "loss", .goal = Goal::kMinimize}}};
  for (const std::string algorithm : {"gp", "random"}) {
    AskTell study = AskTell::Create(problem, {.name = algorithm, .options = {}}, 1).value();
    for (const double n : {0.0, 2.0, 4.0, 6.0, 8.0, 10.0}) {
      EXPECT_THAT(study.Add({{"n", n}}, {3.0 * n}), IsOk());
    }
    // A whole number is taken for the float that the parameter holds.
    const auto predicted = study.Predict({{{"n", std::int64_t{5}}}});
    if (algorithm == "random") {
      EXPECT_THAT(predicted, StatusIs(absl::StatusCode::kFailedPrecondition));
      continue;
    }
    ASSERT_THAT(predicted, IsOk());
    EXPECT_NEAR(predicted->front().objective.mean, 15.0, 1.0);
    EXPECT_GT(predicted->front().objective.deviation, 0.0);
  }
}

TEST(AskTell, RefusesWhatItsAlgorithmRefuses) {
  EXPECT_THAT(AskTell::Create(SmallProblem(), {.name = "rando"}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'random'")));
  EXPECT_THAT(AskTell::Create({.space = Space(), .objectives = {}}, {.name = "random"}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, "objective: needs at least one metric"));
}

}  // namespace
}  // namespace vernier
