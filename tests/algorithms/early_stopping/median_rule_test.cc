#include <cmath>
#include <string>
#include <vector>

#include "algorithms/early_stopping/percentile_rule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/early_stopping/curves.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;
using ::vernier::testing::MakeCurve;
using ::vernier::testing::Options;
using ::vernier::testing::Running;
using ::vernier::testing::StatusIs;

std::unique_ptr<EarlyStopper> NewMedian(Goal goal,
                                        const Options& options = {
                                            {"min_trials", std::int64_t{1}}}) {
  // Without a warm-up, where a test has none of its own.
  Options all = options;
  all.try_emplace("warm_up", 0.0);
  return NewMedianRule(goal, {.name = "median", .options = all}).value();
}

bool Stops(Goal goal,
           const std::vector<double>& running,
           const std::vector<std::vector<double>>& others) {
  std::vector<Curve> curves;
  for (const std::vector<double>& values : others) curves.push_back(MakeCurve(values));
  return NewMedian(goal)->Judge(Running(running), curves).stop;
}

TEST(MedianRule, ComparesTheBestSoFarWithTheMedianOfRunningAverages) {
  // Running averages up to step 2: 1, 3, 5; their median: 3. Later steps of the others do not count.
  const std::vector<std::vector<double>> others = {{0, 2, 90}, {2, 4, 90}, {4, 6, 90}};
  EXPECT_TRUE(Stops(Goal::kMaximize, {2.9, 1}, others));
  EXPECT_FALSE(Stops(Goal::kMaximize, {3.1, 1}, others));
  EXPECT_FALSE(Stops(Goal::kMinimize, {2.9, 9}, others));
  EXPECT_TRUE(Stops(Goal::kMinimize, {3.1, 9}, others));
}

TEST(MedianRule, DoesNotStopATie) {
  EXPECT_FALSE(Stops(Goal::kMaximize, {3}, {{1}, {3}, {5}}));
  EXPECT_FALSE(Stops(Goal::kMinimize, {3}, {{1}, {3}, {5}}));
}

TEST(MedianRule, DoesNotStopATieOfAveragesThatRound) {
  for (const double value : {0.1, 0.3, 1.0, 3.0}) {
    for (const std::size_t reports : {3, 6, 7, 10}) {
      const std::vector<double> flat(reports, value);
      EXPECT_FALSE(Stops(Goal::kMaximize, flat, {flat, flat, flat})) << value;
      EXPECT_FALSE(Stops(Goal::kMinimize, flat, {flat, flat, flat})) << value;
    }
  }
}

TEST(MedianRule, TakesTheMiddleOfAnEvenNumberOfCurves) {
  EXPECT_TRUE(Stops(Goal::kMaximize, {2.9}, {{1}, {2}, {4}, {5}}));
  EXPECT_FALSE(Stops(Goal::kMaximize, {3}, {{1}, {2}, {4}, {5}}));
}

TEST(MedianRule, ExplainsWithTheNumbersThatItCompared) {
  const std::vector<Curve> others = {MakeCurve({0, 2}), MakeCurve({2, 4}), MakeCurve({4, 6})};
  const Verdict stop = NewMedian(Goal::kMaximize)->Judge(Running({2.5, 1}), others);
  EXPECT_TRUE(stop.stop);
  EXPECT_THAT(stop.numbers,
              UnorderedElementsAre(
                  Pair("best", 2.5), Pair("median", 3), Pair("step", 2), Pair("curves", 3)));
  EXPECT_EQ(stop.explanation,
            "best value 2.5 up to step 2 is worse than 3, the median of the running averages of 3 "
            "finished trials");
  const Verdict go_on = NewMedian(Goal::kMaximize)->Judge(Running({4}), others);
  EXPECT_FALSE(go_on.stop);
  EXPECT_THAT(go_on.explanation, HasSubstr("is no worse than 2"));
}

TEST(MedianRule, WaitsForEnoughFinishedTrialsThatReachedTheStep) {
  const auto rule = NewMedian(Goal::kMaximize, {{"min_trials", std::int64_t{3}}});
  Curve late = MakeCurve({9});
  late.points[0].step = 50;
  std::vector<Curve> others = {MakeCurve({9}), MakeCurve({9}), MakeCurve({9}, false), late};
  const Verdict too_few = rule->Judge(Running({1}), others);
  EXPECT_FALSE(too_few.stop);
  EXPECT_EQ(too_few.explanation, "2 finished trials have a value up to step 1, the rule needs 3");
  others.push_back(MakeCurve({9}));
  EXPECT_TRUE(rule->Judge(Running({1}), others).stop);
}

TEST(MedianRule, NeedsFiveFinishedTrialsByDefault) {
  const auto rule = NewMedian(Goal::kMaximize, {});
  std::vector<Curve> others(4, MakeCurve({9}));
  EXPECT_FALSE(rule->Judge(Running({1}), others).stop);
  others.push_back(MakeCurve({9}));
  EXPECT_TRUE(rule->Judge(Running({1}), others).stop);
}

TEST(MedianRule, GivesTheTrialItsGrace) {
  const auto rule =
      NewMedian(Goal::kMaximize, {{"min_trials", std::int64_t{1}}, {"min_steps", std::int64_t{3}}});
  const std::vector<Curve> others = {MakeCurve({9, 9, 9})};
  const Verdict early = rule->Judge(Running({1, 1}), others);
  EXPECT_FALSE(early.stop);
  EXPECT_EQ(early.explanation, "2 values reported, the trial is judged from 3 on");
  EXPECT_TRUE(rule->Judge(Running({1, 1, 1}), others).stop);
}

TEST(MedianRule, LetsTheLastJudgementStandBetweenIntervals) {
  const auto rule = NewMedian(Goal::kMaximize,
                              {{"min_trials", std::int64_t{1}},
                               {"min_steps", std::int64_t{2}},
                               {"interval", std::int64_t{3}}});
  const std::vector<Curve> others = {MakeCurve({5, 5, 5, 5, 5})};
  EXPECT_FALSE(rule->Judge(Running({1}), others).stop);
  EXPECT_TRUE(rule->Judge(Running({1, 1}), others).stop);
  // The third and fourth report would clear it, but are not looked at before the fifth.
  EXPECT_EQ(rule->Judge(Running({1, 1, 9}), others).numbers.at("step"), 2);
  EXPECT_TRUE(rule->Judge(Running({1, 1, 9, 9}), others).stop);
  EXPECT_FALSE(rule->Judge(Running({1, 1, 9, 9, 1}), others).stop);
}

TEST(MedianRule, WaitsForATenthOfTheUsualLengthByDefault) {
  const auto rule = NewMedianRule(Goal::kMaximize,
                                  {.name = "median", .options = {{"min_trials", std::int64_t{1}}}})
                        .value();
  const std::vector<Curve> others = {MakeCurve(std::vector<double>(30, 9))};
  EXPECT_FALSE(rule->Judge(Running({1, 1}), others).stop);
  EXPECT_TRUE(rule->Judge(Running({1, 1, 1}), others).stop);
  // Stopped trials do not tell how long trials are.
  EXPECT_FALSE(rule->Judge(Running({1, 1, 1}), std::vector<Curve>{testing::Stopped({9, 9})}).stop);
}

TEST(MedianRule, HasNoPercentile) {
  EXPECT_THAT(NewMedianRule(Goal::kMaximize, {.name = "median", .options = {{"percentile", 50.0}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("stopping.percentile: ")));
}

TEST(MedianRule, LeavesNanOut) {
  EXPECT_FALSE(Stops(Goal::kMaximize, {kNan, 4, kNan}, {{kNan, 3}, {kNan, kNan}, {3, kNan, 3}}));
  EXPECT_TRUE(Stops(Goal::kMaximize, {kNan, 2, kNan}, {{kNan, 3}, {kNan, kNan}, {3, kNan, 3}}));
}

TEST(MedianRule, StopsATrialThatReportsNothingButNan) {
  const std::vector<Curve> others = {MakeCurve({3})};
  for (const Goal goal : {Goal::kMaximize, Goal::kMinimize}) {
    const Verdict verdict = NewMedian(goal)->Judge(Running({kNan}), others);
    EXPECT_TRUE(verdict.stop);
    EXPECT_FALSE(verdict.numbers.contains("best"));
    EXPECT_THAT(verdict.explanation, StartsWith("no value but NaN up to step 1 is worse than 3"));
  }
}

TEST(MedianRule, SurvivesInfinitiesAndHugeValues) {
  EXPECT_TRUE(Stops(Goal::kMinimize, {kInf}, {{1}, {2}, {3}}));
  EXPECT_FALSE(Stops(Goal::kMinimize, {1}, {{kInf}, {kInf}, {3}}));
  EXPECT_FALSE(Stops(Goal::kMaximize, {1, 1}, {{kInf, -kInf}}));  // That curve has no mean.
  EXPECT_TRUE(Stops(Goal::kMaximize, {-1e308, -1e308}, {{1e308, 1e308, 1e308}, {1e308, 1e308}}));
}

TEST(MedianRule, HasNothingToJudgeWithoutReports) {
  const Verdict verdict = NewMedian(Goal::kMaximize)->Judge(Running({}), {});
  EXPECT_FALSE(verdict.stop);
  EXPECT_THAT(verdict.numbers, IsEmpty());
}

TEST(MedianRule, StatesItsOptionsWithDefaults) {
  const auto rule = NewMedianRule(Goal::kMaximize, {.name = "median"}).value();
  EXPECT_EQ(rule->options(),
            R"({"interval":1,"min_steps":1,"min_trials":5,"patience":0,"warm_up":0.1})");
}

TEST(MedianRule, RefusesUnknownAndIllegalOptions) {
  const auto with = [](const Options& options) {
    return NewMedianRule(Goal::kMaximize, {.name = "median", .options = options});
  };
  EXPECT_THAT(with({{"min_trial", std::int64_t{3}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("stopping.min_trial: "), HasSubstr("'min_trials'"))));
  EXPECT_THAT(with({{"min_trials", std::int64_t{0}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "stopping.min_trials: must be a whole number from 1 to 1000000, got 0"));
  EXPECT_THAT(with({{"interval", 1.5}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got 1.5")));
}

}  // namespace
}  // namespace vernier
