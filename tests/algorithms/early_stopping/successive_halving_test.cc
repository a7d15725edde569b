#include "algorithms/early_stopping/successive_halving.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/early_stopping/curves.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using ::vernier::testing::kNan;
using ::vernier::testing::MakeCurve;
using ::vernier::testing::Options;
using ::vernier::testing::Running;
using ::vernier::testing::StatusIs;

std::unique_ptr<EarlyStopper> NewAsha(Goal goal, const Options& options) {
  return NewAshaRule(goal, {.name = "asha", .options = options}).value();
}
std::unique_ptr<EarlyStopper> NewHyperband(Goal goal, const Options& options) {
  return NewHyperbandRule(goal, {.name = "hyperband", .options = options}).value();
}

constexpr int kHalvingLength = 32;

// Curves that cross, without ties.
double ValueOf(int trial, int step) {
  return (trial * 7919 % 101) / 100.0 + ((trial * 31 + step * 17) % 23) / 200.0 + 1.0 / step;
}

// The trials' lengths if one trial runs after the other, and a stopped one ends.
std::vector<int> RunAll(const EarlyStopper& rule, int trials) {
  std::vector<Curve> curves;
  std::vector<int> lengths;
  for (int trial = 1; trial <= trials; ++trial) {
    Curve running{.trial = TrialNumber(trial)};
    int step = 0;
    while (step < kHalvingLength) {
      ++step;
      running.points.push_back({.step = step, .value = ValueOf(trial, step)});
      if (rule.Judge(running, curves).stop) break;
    }
    running.finished = true;
    running.stopped_early = step < kHalvingLength;
    curves.push_back(running);
    lengths.push_back(step);
  }
  return lengths;
}

// Lengths that Optuna 5.0.0 gives the same curves with SuccessiveHalvingPruner(min_resource=2, reduction_factor=4) and,
// maximizing, (min_resource=1, reduction_factor=3).
TEST(Asha, StopsWhereOptunasPrunerDoes) {
  const std::vector<int> minimized = {32, 2, 32, 2, 32, 2, 2, 8, 2, 32, 2, 2, 8, 2,
                                      32, 2, 2,  2, 2,  8, 2, 2, 2, 2,  8, 2, 2, 2,
                                      2,  2, 2,  2, 2,  2, 2, 2, 8, 2,  2, 8};
  EXPECT_THAT(
      RunAll(*NewAsha(Goal::kMinimize,
                      {{"min_resource", std::int64_t{2}}, {"reduction_factor", std::int64_t{4}}}),
             40),
      ElementsAreArray(minimized));
  const std::vector<int> maximized = {32, 32, 1,  1,  1, 1, 32, 1,  3, 1, 1, 32, 1,  3,
                                      1,  1,  32, 1,  3, 1, 1,  32, 1, 3, 1, 1,  32, 1,
                                      3,  1,  1,  32, 1, 3, 1,  1,  1, 1, 9, 1};
  EXPECT_THAT(
      RunAll(*NewAsha(Goal::kMaximize,
                      {{"min_resource", std::int64_t{1}}, {"reduction_factor", std::int64_t{3}}}),
             40),
      ElementsAreArray(maximized));
}

TEST(Asha, ComparesWithRunningTrialsThatArrived) {
  const auto rule = NewAsha(Goal::kMaximize,
                            {{"min_resource", std::int64_t{2}},
                             {"reduction_factor", std::int64_t{2}},
                             {"max_resource", std::int64_t{8}}});
  const std::vector<Curve> others = {Running({0, 5, 0}), Running({9}), MakeCurve({0, 3})};
  const Verdict verdict = rule->Judge(Running({0, 4}), others);
  EXPECT_TRUE(verdict.stop);
  EXPECT_THAT(verdict.numbers,
              UnorderedElementsAre(Pair("rung", 2),
                                   Pair("curves", 3),
                                   Pair("rank", 2),
                                   Pair("value", 4),
                                   Pair("cutoff", 5)));
  EXPECT_EQ(verdict.explanation, "4 at report 2 has rank 2 of 3 trials; the best 1 go on");
  EXPECT_FALSE(rule->Judge(Running({0, 5}), others).stop) << "a tie goes on";
  EXPECT_FALSE(rule->Judge(Running({0, 4, 0}), others).stop) << "no rung";
}

TEST(Asha, PutsThreeRungsBelowTheUsualLength) {
  const auto rule = NewAsha(Goal::kMaximize, {{"reduction_factor", std::int64_t{3}}});
  EXPECT_THAT(rule->Judge(Running({1, 1}), {}).explanation, HasSubstr("ended by itself"));
  const std::vector<Curve> others = {MakeCurve(std::vector<double>(54, 9.0))};
  EXPECT_FALSE(rule->Judge(Running({1}), others).stop);
  EXPECT_TRUE(rule->Judge(Running({1, 1}), others).stop);
}

TEST(Asha, StopsATrialWhoseValueIsNan) {
  const auto rule = NewAsha(Goal::kMinimize, {{"min_resource", std::int64_t{1}}});
  const Verdict verdict = rule->Judge(Running({kNan}), {});
  EXPECT_TRUE(verdict.stop);
  EXPECT_FALSE(verdict.numbers.contains("value"));
  EXPECT_FALSE(rule->Judge(Running({7}), {{MakeCurve({kNan}), MakeCurve({kNan})}}).stop);
}

TEST(Asha, PromotesOnlyTheBestOfThoseThatArrived) {
  const auto rule = NewAsha(Goal::kMaximize,
                            {{"type", std::string("promotion")},
                             {"min_resource", std::int64_t{1}},
                             {"reduction_factor", std::int64_t{3}}});
  EXPECT_TRUE(rule->needs_pausing());
  EXPECT_FALSE(NewAsha(Goal::kMaximize, {})->needs_pausing());
  const Verdict first = rule->Judge(Running({9}), {});
  EXPECT_TRUE(first.stop) << "one of one is not the best third";
  EXPECT_EQ(first.explanation, "9 at report 1 has rank 1 of 1 trials; the best 0 go on");
  EXPECT_FALSE(first.numbers.contains("cutoff"));
  EXPECT_TRUE(rule->Judge(Running({9}), {{MakeCurve({1})}}).stop);
  EXPECT_FALSE(rule->Judge(Running({9}), {{MakeCurve({1}), MakeCurve({2})}}).stop);
  EXPECT_TRUE(rule->Judge(Running({1}), {{MakeCurve({9}), MakeCurve({2})}}).stop);
}

TEST(Asha, HasNoRungWhereATrialEnds) {
  const Options options = {{"min_resource", std::int64_t{1}},
                           {"reduction_factor", std::int64_t{2}}};
  const std::vector<Curve> others = {MakeCurve({9, 9, 9, 9})};
  EXPECT_TRUE(NewAsha(Goal::kMaximize, options)->Judge(Running({1, 1}), others).stop);
  EXPECT_FALSE(NewAsha(Goal::kMaximize, options)->Judge(Running({1, 1, 1, 1}), others).stop);
  Options given = options;
  given["max_resource"] = std::int64_t{2};
  EXPECT_FALSE(NewAsha(Goal::kMaximize, given)->Judge(Running({1, 1}), others).stop);
}

// A program may report more before it is down.
TEST(Asha, JudgesAPausedTrialAtItsLastRung) {
  const auto rule = NewAsha(Goal::kMaximize,
                            {{"min_resource", std::int64_t{2}},
                             {"reduction_factor", std::int64_t{2}},
                             {"max_resource", std::int64_t{8}}});
  Curve paused = Running({0, 4, 9});
  const std::vector<Curve> better = {MakeCurve({0, 5}), MakeCurve({0, 6})};
  EXPECT_FALSE(rule->Judge(paused, better).stop) << "between rungs";
  paused.stopped_early = true;
  EXPECT_TRUE(rule->Judge(paused, better).stop);
  EXPECT_EQ(rule->Judge(paused, better).numbers.at("rung"), 2);
  EXPECT_FALSE(rule->Judge(paused, {{MakeCurve({0, 1}), MakeCurve({0, 2})}}).stop);
}

TEST(Hyperband, DealsTrialsToBracketsByNumber) {
  const auto rule = NewHyperband(Goal::kMinimize, {{"max_resource", std::int64_t{9}}});
  std::vector<int> in_bracket(3);
  for (int trial = 1; trial <= 900; ++trial) {
    // Each trial is judged at the first rung of its bracket: after 1, 3 or 9 reports.
    for (std::size_t bracket = 0; bracket < 3; ++bracket) {
      Curve running = Running(std::vector<double>(bracket == 0 ? 1 : bracket == 1 ? 3 : 9, 1.0));
      running.trial = TrialNumber(trial);
      const Verdict verdict = rule->Judge(running, {});
      if (verdict.numbers.contains("bracket") && verdict.numbers.at("bracket") == bracket) {
        ++in_bracket[bracket];
        break;
      }
    }
  }
  // Weights of Hyperband for eta 3 and three brackets: 9, 5 (4.5 rounded up) and 3 of 17.
  EXPECT_NEAR(in_bracket[0], 900 * 9.0 / 17, 45);
  EXPECT_NEAR(in_bracket[1], 900 * 5.0 / 17, 45);
  EXPECT_NEAR(in_bracket[2], 900 * 3.0 / 17, 45);
}

TEST(Hyperband, ComparesWithinABracket) {
  const auto rule = NewHyperband(Goal::kMaximize, {{"max_resource", std::int64_t{9}}});
  std::vector<Curve> others;
  for (int trial = 2; trial <= 60; ++trial) {
    others.push_back(MakeCurve(std::vector<double>(9, 5.0)));
    others.back().trial = TrialNumber(trial);
  }
  for (int reports = 1; reports <= 9; ++reports) {
    const Verdict verdict =
        rule->Judge(Running(std::vector<double>(static_cast<std::size_t>(reports), 1.0)), others);
    if (!verdict.numbers.contains("bracket")) continue;
    EXPECT_TRUE(verdict.stop);
    EXPECT_GT(verdict.numbers.at("curves"), 1);
    EXPECT_LT(verdict.numbers.at("curves"), 60);
    return;
  }
  FAIL() << "never judged";
}

TEST(Hyperband, LearnsTheLengthFromTrialsThatEnded) {
  const auto rule = NewHyperband(Goal::kMaximize, {});
  EXPECT_THAT(rule->Judge(Running({1}), {}).explanation, HasSubstr("ended by itself"));
  const std::vector<Curve> others = {MakeCurve(std::vector<double>(27, 9.0))};
  bool judged = false;
  for (std::size_t reports = 1; reports <= 27; ++reports) {
    const Verdict verdict = rule->Judge(Running(std::vector<double>(reports, 1.0)), others);
    judged = judged || verdict.numbers.contains("bracket");
  }
  EXPECT_TRUE(judged);
}

TEST(SuccessiveHalving, HasThePeersNameToo) {
  const auto rule = AlgorithmCatalogue::BuiltIn().NewEarlyStopper({.name = "successive_halving"},
                                                                  Goal::kMinimize);
  ASSERT_THAT(rule, ::vernier::testing::IsOk());
  EXPECT_EQ((*rule)->name(), "asha");
}

TEST(SuccessiveHalving, RefusesIllegalOptions) {
  const auto asha = [](const Options& options) {
    return NewAshaRule(Goal::kMaximize, {.name = "asha", .options = options});
  };
  EXPECT_THAT(asha({{"reduction_factor", std::int64_t{1}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "stopping.reduction_factor: must be a whole number from 2 to 100, got 1"));
  EXPECT_THAT(asha({{"min_resource", std::int64_t{9}}, {"max_resource", std::int64_t{3}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.max_resource: ")));
  EXPECT_THAT(asha({{"type", std::string("pause")}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.type: ")));
  EXPECT_THAT(NewHyperbandRule(Goal::kMaximize,
                               {.name = "hyperband",
                                .options = {{"min_resource", std::int64_t{9}},
                                            {"max_resource", std::int64_t{3}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("stopping.max_resource: must be a whole number from 9 to ")));
  EXPECT_EQ(asha({})->get()->options(),
            R"({"max_resource":null,"min_resource":null,"reduction_factor":4,"type":"stopping"})");
  EXPECT_EQ(NewHyperband(Goal::kMaximize, {})->options(),
            R"({"max_resource":null,"min_resource":1,"reduction_factor":3})");
}

}  // namespace
}  // namespace vernier
