#include "algorithms/early_stopping/percentile_rule.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/early_stopping/curves.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;
using ::vernier::testing::MakeCurve;
using ::vernier::testing::Options;
using ::vernier::testing::Running;
using ::vernier::testing::StatusIs;
using ::vernier::testing::Stopped;

std::unique_ptr<EarlyStopper> NewPercentile(Goal goal, Options options = {}) {
  options.try_emplace("min_trials", std::int64_t{1});
  return NewPercentileRule(goal, {.name = "percentile", .options = options}).value();
}

// Curves of 20 reports that stay at these values.
std::vector<Curve> Flat(const std::vector<double>& values) {
  std::vector<Curve> curves;
  for (const double value : values) curves.push_back(MakeCurve(std::vector<double>(20, value)));
  return curves;
}

TEST(PercentileRule, KeepsATrialThatIsAmongTheBestQuarter) {
  // Of 1 … 5 a quarter is at 4 or better if larger is better, at 2 or better if smaller is.
  const std::vector<Curve> others = Flat({3, 1, 5, 2, 4});
  EXPECT_TRUE(NewPercentile(Goal::kMaximize)->Judge(Running({3.9, 3.9}), others).stop);
  EXPECT_FALSE(NewPercentile(Goal::kMaximize)->Judge(Running({4, 4}), others).stop);
  EXPECT_TRUE(NewPercentile(Goal::kMinimize)->Judge(Running({2.1, 2.1}), others).stop);
  EXPECT_FALSE(NewPercentile(Goal::kMinimize)->Judge(Running({2, 2}), others).stop);
}

TEST(PercentileRule, InterpolatesBetweenTrials) {
  const auto rule = NewPercentile(Goal::kMaximize, {{"percentile", 40.0}});
  const Verdict verdict = rule->Judge(Running({1, 1}), Flat({1, 2, 4}));
  EXPECT_THAT(verdict.numbers,
              UnorderedElementsAre(Pair("step", 2),
                                   Pair("curves", 3),
                                   Pair("threshold", ::testing::DoubleNear(2.4, 1e-12)),
                                   Pair("best", 1)));
}

TEST(PercentileRule, WithFiftyIsTheMedianRule) {
  const auto rule = NewPercentile(Goal::kMinimize, {{"percentile", 50.0}});
  EXPECT_EQ(rule->Judge(Running({9, 9}), Flat({1, 2, 4, 5})).numbers.at("threshold"), 3);
}

TEST(PercentileRule, WarmsUpForAShareOfTheUsualLength) {
  const auto rule = NewPercentile(Goal::kMaximize, {{"warm_up", 0.25}});
  const std::vector<Curve> others = Flat({5, 5});
  const Verdict early = rule->Judge(Running({1, 1, 1, 1}), others);
  EXPECT_FALSE(early.stop);
  EXPECT_EQ(early.explanation, "4 values reported, the trial is judged from 5 on");
  EXPECT_TRUE(rule->Judge(Running({1, 1, 1, 1, 1}), others).stop);
}

TEST(PercentileRule, DoesNotTakeAStoppedTrialsLengthForTheUsualOne) {
  const auto rule = NewPercentile(Goal::kMaximize, {{"warm_up", 0.5}});
  std::vector<Curve> others(9, Stopped({9, 9}));
  EXPECT_THAT(rule->Judge(Running({1, 1, 1}), others).explanation, HasSubstr("ended by itself"));
  others.push_back(MakeCurve({9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_FALSE(rule->Judge(Running({1, 1, 1}), others).stop);
  EXPECT_TRUE(rule->Judge(Running({1, 1, 1, 1}), others).stop);
}

TEST(PercentileRule, JudgesWithoutAWarmUpBeforeAnyTrialEndedByItself) {
  const auto rule = NewPercentile(Goal::kMaximize, {{"warm_up", 0.0}});
  EXPECT_TRUE(rule->Judge(Running({1}), {{Stopped({9, 9})}}).stop);
}

TEST(PercentileRule, IsPatientWithATrialThatImproves) {
  const auto rule = NewPercentile(Goal::kMaximize, {{"patience", std::int64_t{2}}});
  const std::vector<Curve> others = Flat({9, 9, 9});
  const Verdict improves = rule->Judge(Running({1, 2, 3}), others);
  EXPECT_FALSE(improves.stop);
  EXPECT_THAT(improves.explanation, HasSubstr("but it improved within the last 2 reports"));
  EXPECT_FALSE(rule->Judge(Running({1, 2, 3, 3}), others).stop);
  EXPECT_TRUE(rule->Judge(Running({1, 2, 3, 3, 3}), others).stop);
}

TEST(PercentileRule, SurvivesNanAndInfinities) {
  EXPECT_TRUE(NewPercentile(Goal::kMinimize)->Judge(Running({kNan, kNan}), Flat({1, 2})).stop);
  EXPECT_FALSE(NewPercentile(Goal::kMinimize)->Judge(Running({1, 1}), Flat({kInf, kInf, 2})).stop);
  const auto rule = NewPercentile(Goal::kMaximize, {{"percentile", 30.0}});
  EXPECT_FALSE(
      std::isnan(rule->Judge(Running({1, 1}), Flat({-kInf, kInf})).numbers.at("threshold")));
}

TEST(PercentileRule, RefusesIllegalOptions) {
  const auto with = [](const Options& options) {
    return NewPercentileRule(Goal::kMaximize, {.name = "percentile", .options = options});
  };
  EXPECT_THAT(with({{"percentile", 101.0}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.percentile: ")));
  EXPECT_THAT(with({{"warm_up", 1.5}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.warm_up: ")));
  EXPECT_THAT(with({{"patience", std::int64_t{-1}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.patience: ")));
  EXPECT_EQ(
      with({})->get()->options(),
      R"({"interval":1,"min_steps":1,"min_trials":5,"patience":0,"percentile":25.0,"warm_up":0.1})");
}

}  // namespace
}  // namespace vernier
