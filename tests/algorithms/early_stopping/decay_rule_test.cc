#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/early_stopping/curve_model.h"
#include "algorithms/early_stopping/end_rule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/early_stopping/curves.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;
using ::vernier::testing::MakeCurve;
using ::vernier::testing::Options;
using ::vernier::testing::Running;
using ::vernier::testing::StatusIs;
using ::vernier::testing::Stopped;

constexpr int kDecayLength = 50;

std::unique_ptr<EarlyStopper> NewDecay(Goal goal, const Options& options = {}) {
  return NewDecayRule(goal, {.name = "decay", .options = options}).value();
}

// Exponential falls to an end from 0.1 to 0.7, at different rates, with noise.
struct Falls {
  explicit Falls(std::uint64_t seed) : rng(seed) {}
  std::vector<double> Next() {
    const double end = 0.1 + 0.6 * rng.Uniform();
    const double rate = 2 + 8 * rng.Uniform();
    return To(end, rate);
  }
  std::vector<double> To(double end, double rate) {
    std::vector<double> values;
    for (int step = 1; step <= kDecayLength; ++step) {
      values.push_back(end + 0.5 * std::exp(-step / rate) + 0.003 * rng.Normal());
    }
    return values;
  }
  Rng rng;
};

std::vector<Curve> Complete(int count) {
  Falls falls(1);
  std::vector<Curve> curves;
  for (int i = 0; i < count; ++i) curves.push_back(MakeCurve(falls.Next()));
  return curves;
}

std::vector<double> First(std::vector<double> values, int count) {
  values.resize(static_cast<std::size_t>(count));
  return values;
}

std::vector<double> Negated(std::vector<double> values) {
  for (double& value : values) value = -value;
  return values;
}

TEST(DecayRule, StopsATrialThatWillNotBeTheBestAndNotOneThatMay) {
  const std::vector<Curve> complete = Complete(10);
  Falls falls(2);
  const auto rule = NewDecay(Goal::kMinimize);
  const Verdict poor = rule->Judge(Running(First(falls.To(0.65, 3), 15)), complete);
  EXPECT_TRUE(poor.stop) << poor.explanation;
  EXPECT_NEAR(poor.numbers.at("expected_end"), 0.65, 0.03);
  EXPECT_LT(poor.numbers.at("probability"), 0.05);
  EXPECT_THAT(poor.explanation, HasSubstr(" is expected to end at 0.6"));
  const Verdict good = rule->Judge(Running(First(falls.To(0.05, 3), 15)), complete);
  EXPECT_FALSE(good.stop) << good.explanation;
  EXPECT_GT(good.numbers.at("probability"), 0.5);
}

TEST(DecayRule, MaximizesAsItMinimizes) {
  const std::vector<Curve> complete = Complete(10);
  std::vector<Curve> negated;
  Falls again(1);
  for (int i = 0; i < 10; ++i) negated.push_back(MakeCurve(Negated(again.Next())));
  Falls falls(2);
  for (int i = 0; i < 30; ++i) {
    const std::vector<double> part = First(falls.Next(), 3 + i);
    const Verdict down = NewDecay(Goal::kMinimize)->Judge(Running(part), complete);
    const Verdict up = NewDecay(Goal::kMaximize)->Judge(Running(Negated(part)), negated);
    EXPECT_EQ(down.stop, up.stop);
    EXPECT_NEAR(down.numbers.at("probability"), up.numbers.at("probability"), 1e-9);
  }
}

// Of the trials that are judged to be among the best with a probability of p, about a share of p is.
TEST(DecayRule, ProbabilitiesAreAboutRight) {
  const std::vector<Curve> complete = Complete(12);
  const auto rule = NewDecay(Goal::kMinimize, {{"p", 1e-300}});
  Falls falls(3);
  double expected = 0;
  double observed = 0;
  double wrong = 0;
  constexpr int kTrials = 400;
  for (int i = 0; i < kTrials; ++i) {
    const std::vector<double> whole = falls.Next();
    const Verdict verdict = rule->Judge(Running(First(whole, 4 + i % 20)), complete);
    const bool is_best = whole.back() < verdict.numbers.at("best");
    const double probability = verdict.numbers.at("probability");
    expected += probability;
    observed += is_best ? 1 : 0;
    wrong += is_best && probability < 0.05 ? 1 : 0;
  }
  EXPECT_GT(observed, 10);
  EXPECT_GT(expected, 0.5 * observed);
  EXPECT_LT(expected, 4 * observed + 20);
  EXPECT_LE(wrong, 0.1 * observed);
}

// All curves of a study fall where the learning rate does: a flat part before says nothing.
TEST(DecayRule, LearnsWhatCompleteCurvesShare) {
  Rng rng(4);
  std::vector<Curve> complete;
  const auto with_drop = [&](double end) {
    std::vector<double> values;
    for (int step = 1; step <= kDecayLength; ++step) {
      const double before = end + 0.3 + 0.2 * std::exp(-step / 3.0);
      values.push_back((step <= 35 ? before : end) + 0.003 * rng.Normal());
    }
    return values;
  };
  for (int i = 0; i < 12; ++i) complete.push_back(MakeCurve(with_drop(0.3 + 0.03 * i)));
  const Verdict good =
      NewDecay(Goal::kMinimize)->Judge(Running(First(with_drop(0.25), 30)), complete);
  EXPECT_FALSE(good.stop) << good.explanation;
  EXPECT_NEAR(good.numbers.at("expected_end"), 0.25, 0.05);
  const Verdict poor =
      NewDecay(Goal::kMinimize)->Judge(Running(First(with_drop(0.7), 30)), complete);
  EXPECT_TRUE(poor.stop) << poor.explanation;
}

TEST(DecayRule, WaitsForTrialsThatEndedByThemselves) {
  std::vector<Curve> others = Complete(3);
  Falls falls(5);
  others.push_back(Stopped(First(falls.Next(), 5)));
  others.push_back(Running(falls.Next()));
  const Verdict verdict = NewDecay(Goal::kMinimize)->Judge(Running({9, 9, 9, 9}), others);
  EXPECT_FALSE(verdict.stop);
  EXPECT_EQ(verdict.explanation, "3 trials ended by themselves, the rule needs 4");
  others.push_back(MakeCurve(falls.Next()));
  EXPECT_TRUE(NewDecay(Goal::kMinimize)->Judge(Running({9, 9, 9, 9}), others).stop);
  EXPECT_EQ(NewDecay(Goal::kMinimize)->Judge(Running({9, 9}), others).explanation,
            "2 values reported, the trial is judged from 3 on");
}

TEST(DecayRule, ATrialThatIsTheBestAlreadyGoesOn) {
  const std::vector<Curve> complete = Complete(6);
  const auto rule = NewDecay(Goal::kMinimize, {{"p", 1.0}});
  EXPECT_FALSE(rule->Judge(Running({0.9, 0.5, 0.01}), complete).stop);
  EXPECT_TRUE(rule->Judge(Running({0.9, 0.9, 0.9}), complete).stop);
}

TEST(DecayRule, NeedsTheTolerance) {
  const std::vector<Curve> complete = Complete(8);
  const std::vector<double> part = First(Falls(6).To(0.12, 3), 25);
  const auto probability = [&](double tolerance) {
    return NewDecay(Goal::kMinimize, {{"tolerance", tolerance}})
        ->Judge(Running(part), complete)
        .numbers.at("probability");
  };
  EXPECT_GT(probability(0), probability(0.05));
  EXPECT_GT(probability(0.05), probability(0.2));
}

TEST(DecayRule, StopsADivergedTrial) {
  const std::vector<Curve> complete = Complete(6);
  for (const double value : {kNan, kInf}) {
    const auto after = [&](int count) {
      std::vector<double> values = {1, 0.8};
      values.resize(static_cast<std::size_t>(2 + count), value);
      return NewDecay(Goal::kMinimize)->Judge(Running(values), complete);
    };
    EXPECT_EQ(after(5).explanation, "the last 5 values up to step 7 are not finite");
    EXPECT_TRUE(after(5).stop);
    EXPECT_THAT(after(1).explanation, HasSubstr("0.8 at step 2 is expected to end at "));
  }
  EXPECT_FALSE(NewDecay(Goal::kMinimize)->Judge(Running({1, 0.8, -kInf}), complete).stop);
}

TEST(DecayRule, IsNotMisledByAnExplodedOrAFlatStudy) {
  Falls falls(7);
  std::vector<Curve> others = Complete(8);
  others.push_back(MakeCurve({1e300, 1e305, 1e308}));
  others.push_back(MakeCurve({kNan, kInf, 0.4}));
  others.push_back(MakeCurve({1, kNan}));
  const Verdict verdict =
      NewDecay(Goal::kMinimize)->Judge(Running(First(falls.To(0.6, 3), 15)), others);
  EXPECT_TRUE(std::isfinite(verdict.numbers.at("expected_end"))) << verdict.explanation;
  EXPECT_NEAR(verdict.numbers.at("expected_end"), 0.6, 0.1);
  const std::vector<Curve> flat(5, MakeCurve({0, 0, 0, 0, 0}));
  const Verdict same = NewDecay(Goal::kMinimize)->Judge(Running({0, 0, 0}), flat);
  EXPECT_TRUE(std::isfinite(same.numbers.at("probability")));
  const Verdict worse = NewDecay(Goal::kMinimize)->Judge(Running({5, 5, 5}), flat);
  EXPECT_TRUE(worse.stop) << worse.explanation;
}

TEST(DecayRule, TakesStepsOfAnySizeAndSeveralLengths) {
  std::vector<Curve> others = Complete(8);
  for (Curve& curve : others) {
    for (CurvePoint& point : curve.points) point.step = 500 * (point.step - 1);
  }
  others[0].points.resize(20);
  others[1].points.resize(3);
  Curve running = Running(First(Falls(8).To(0.65, 3), 15));
  for (CurvePoint& point : running.points) point.step = 500 * (point.step - 1);
  EXPECT_TRUE(NewDecay(Goal::kMinimize)->Judge(running, others).stop);
  // Longer than any before.
  running.points.push_back({.step = 100'000'000, .value = 0.6});
  EXPECT_TRUE(
      std::isfinite(NewDecay(Goal::kMinimize)->Judge(running, others).numbers.at("probability")));
}

TEST(DecayRule, DoesNotDependOnTheUnit) {
  const std::vector<Curve> complete = Complete(9);
  const std::vector<double> part = First(Falls(9).To(0.4, 6), 9);
  const double expected =
      NewDecay(Goal::kMinimize)->Judge(Running(part), complete).numbers.at("probability");
  for (const double unit : {1e-12, 1e6, 1e100}) {
    std::vector<Curve> scaled = complete;
    for (Curve& curve : scaled) {
      for (CurvePoint& point : curve.points) point.value *= unit;
    }
    std::vector<double> running = part;
    for (double& value : running) value *= unit;
    EXPECT_NEAR(
        NewDecay(Goal::kMinimize)->Judge(Running(running), scaled).numbers.at("probability"),
        expected,
        1e-6)
        << unit;
  }
}

TEST(DecayRule, RefusesIllegalOptions) {
  const auto with = [](const Options& options) {
    return NewDecayRule(Goal::kMaximize, {.name = "decay", .options = options});
  };
  EXPECT_THAT(with({{"p", 0.0}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("stopping.p: must be a number above 0 and at most 1, got 0")));
  EXPECT_THAT(with({{"tolerance", -1.0}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stopping.tolerance: ")));
  EXPECT_THAT(with({{"warmup", 0.1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'warm_up'")));
}

}  // namespace
}  // namespace vernier
