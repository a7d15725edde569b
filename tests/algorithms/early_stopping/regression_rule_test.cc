#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/early_stopping/curve_regression.h"
#include "algorithms/early_stopping/curve_statistics.h"
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
using ::vernier::testing::StatusIs;

constexpr int kRegressionLength = 50;
constexpr double kNoise = 0.003;

std::unique_ptr<EarlyStopper> NewRegression(Goal goal, const Options& options = {}) {
  return NewRegressionRule(goal, {.name = "regression", .options = options}).value();
}

// Curves that fall after two fifths. Where they end depends on one parameter, how deep they fall on the other.
struct Trainer {
  explicit Trainer(std::uint64_t seed) : rng(seed) {}

  Curve At(double x, double y) {
    Curve curve = MakeCurve({});
    curve.coordinates = {x, y};
    for (int step = 1; step <= kRegressionLength; ++step) {
      const double left = 1 / (1 + std::exp((step - 20) / 3.0));
      const double value = End(x) + (0.2 + 0.6 * std::sin(3 * y)) * left;
      curve.points.push_back({step, value + kNoise * rng.Normal()});
    }
    return curve;
  }
  static double End(double x) { return 0.1 + std::pow(x - 0.4, 2); }
  Curve Next() {
    const double x = rng.Uniform();
    return At(x, rng.Uniform());
  }
  std::vector<Curve> Complete(int count) {
    std::vector<Curve> curves;
    for (int i = 0; i < count; ++i) curves.push_back(Next());
    return curves;
  }
  Rng rng;
};

Curve CutAfter(Curve curve, std::size_t reports) {
  curve.points.resize(reports);
  curve.finished = false;
  return curve;
}

void Stop(Curve& curve, std::size_t reports) {
  curve.points.resize(reports);
  curve.stopped_early = true;
}

PredictedEnd Predict(const Curve& running, const std::vector<Curve>& others) {
  return PredictEnd(running, running.points, others).value();
}

struct Errors {
  double root_mean_square = 0;
  double in_deviations = 0;
  double mean_in_deviations = 0;
};

// Of predictions after `reports` reports.
Errors ErrorsOf(std::vector<Curve> others, std::size_t reports, bool has_coordinates = true) {
  Trainer trainer(77);
  if (!has_coordinates) {
    for (Curve& curve : others) curve.coordinates.clear();
  }
  constexpr int kTrials = 60;
  Errors errors;
  for (int i = 0; i < kTrials; ++i) {
    const Curve whole = trainer.Next();
    Curve part = CutAfter(whole, reports);
    if (!has_coordinates) part.coordinates.clear();
    const PredictedEnd end = Predict(part, others);
    const double error = whole.points.back().value - end.mean;
    errors.root_mean_square += error * error / kTrials;
    errors.in_deviations += std::pow(error / end.deviation, 2) / kTrials;
    errors.mean_in_deviations += error / end.deviation / kTrials;
  }
  errors.root_mean_square = std::sqrt(errors.root_mean_square);
  errors.in_deviations = std::sqrt(errors.in_deviations);
  return errors;
}

// A tenth of a curve cannot tell a slow one from a poor one; what neighbours did can.
TEST(CurveRegression, LearnsByTheParametersHowMuchIsToCome) {
  const std::vector<Curve> complete = Trainer(1).Complete(30);
  const Errors with = ErrorsOf(complete, 5);
  const Errors without = ErrorsOf(complete, 5, /*has_coordinates=*/false);
  EXPECT_LT(with.root_mean_square, 0.03);
  EXPECT_LT(with.root_mean_square, 0.6 * without.root_mean_square);
  // Neither promises too much.
  EXPECT_LT(with.in_deviations, 1.5);
  EXPECT_LT(without.in_deviations, 1.5);
}

TEST(CurveRegression, IsMoreCertainTheMoreItSees) {
  const std::vector<Curve> complete = Trainer(2).Complete(30);
  EXPECT_LT(ErrorsOf(complete, 30).root_mean_square, ErrorsOf(complete, 5).root_mean_square);
  const Curve whole = Trainer(3).Next();
  const double early = Predict(CutAfter(whole, 4), complete).deviation;
  EXPECT_LT(Predict(CutAfter(whole, 40), complete).deviation, 0.5 * early);
}

// Trials that a rule stopped, being poor at a fifth, still show how curves go on until there.
TEST(CurveRegression, IsNotMisledByWhichTrialsWereStopped) {
  std::vector<Curve> others = Trainer(4).Complete(40);
  std::vector<double> levels;
  for (const Curve& curve : others) levels.push_back(curve.points[9].value);
  std::ranges::nth_element(levels, levels.begin() + 15);
  for (Curve& curve : others) {
    if (curve.points[9].value > levels[15]) Stop(curve, 10);
  }
  const Errors errors = ErrorsOf(others, 5);
  EXPECT_LT(errors.in_deviations, 2);
  EXPECT_LT(std::abs(errors.mean_in_deviations), 0.7);
}

TEST(CurveRegression, NeedsTrialsThatCameFurther) {
  Trainer trainer(5);
  std::vector<Curve> others = {trainer.Next()};
  const Curve running = CutAfter(trainer.Next(), 10);
  EXPECT_FALSE(PredictEnd(running, running.points, others).has_value());  // A single one.
  EXPECT_FALSE(PredictEnd(running, running.points, {}).has_value());
  others.push_back(trainer.Next());
  EXPECT_TRUE(PredictEnd(running, running.points, others).has_value());
  Stop(others[0], 20);  // The last stage has one.
  EXPECT_FALSE(PredictEnd(running, running.points, others).has_value());
}

TEST(RegressionRule, StopsATrialThatWillNotBeTheBestAndNotOneThatMay) {
  Trainer trainer(6);
  const std::vector<Curve> complete = trainer.Complete(20);
  const auto rule = NewRegression(Goal::kMinimize);
  const Verdict poor = rule->Judge(CutAfter(trainer.At(0.95, 0.05), 10), complete);
  EXPECT_TRUE(poor.stop) << poor.explanation;
  EXPECT_NEAR(poor.numbers.at("expected_end"), Trainer::End(0.95), 0.05);
  EXPECT_LT(poor.numbers.at("probability"), 3e-5);
  EXPECT_THAT(poor.explanation, HasSubstr(" is expected to end at 0."));
  const Verdict good = rule->Judge(CutAfter(trainer.At(0.4, 0.7), 10), complete);
  EXPECT_FALSE(good.stop) << good.explanation;
}

TEST(RegressionRule, ComparesWithTheBestTrialThatKeepsTheConstraints) {
  Trainer trainer(6);
  std::vector<Curve> complete = trainer.Complete(20);
  const auto end_of = [](const Curve& curve) { return curve.points.back().value; };
  std::ranges::sort(complete, {}, end_of);
  for (std::size_t i = 0; i < 19; ++i) complete[i].keeps_constraints = false;
  const auto rule = NewRegression(Goal::kMinimize);
  const Curve poor = CutAfter(trainer.At(0.95, 0.05), 10);
  const Verdict against_worst = rule->Judge(poor, complete);
  EXPECT_EQ(against_worst.numbers.at("best"), end_of(complete.back()));
  EXPECT_FALSE(against_worst.stop) << against_worst.explanation;
  complete.back().keeps_constraints = false;
  const Verdict against_none = rule->Judge(poor, complete);
  EXPECT_FALSE(against_none.stop);
  EXPECT_EQ(against_none.explanation,
            "no trial that ended by itself keeps the outcome constraints");
  complete[0].keeps_constraints = true;
  EXPECT_TRUE(rule->Judge(poor, complete).stop);
}

TEST(CurveRegression, IsNotMisledByASingleOutlier) {
  Trainer trainer(8);
  const std::vector<Curve> complete = trainer.Complete(20);
  const Curve clean = CutAfter(trainer.At(0.5, 0.3), 20);
  const PredictedEnd expected = Predict(clean, complete);
  for (const double spike : {0.5, 100.0, 1e300, -100.0}) {
    Curve spiked = clean;
    spiked.points[16].value += spike;
    const PredictedEnd end = Predict(spiked, complete);
    // On a steep fall the value that replaces it is a step off.
    EXPECT_NEAR(end.mean, expected.mean, 5 * expected.deviation) << spike;
  }
  std::vector<Curve> others = complete;
  for (std::size_t i = 0; i < others.size(); i += 2) others[i].points[10 + i].value += 100;
  EXPECT_NEAR(Predict(clean, others).mean, expected.mean, 3 * expected.deviation);
}

TEST(RegressionRule, StopsATrialWhoseValuesStayNotFiniteAndNotASingleOne) {
  Trainer trainer(6);
  const std::vector<Curve> complete = trainer.Complete(20);
  const auto rule = NewRegression(Goal::kMinimize);
  Curve good = CutAfter(trainer.At(0.4, 0.7), 10);
  good.points.back().value = kNan;
  const Verdict once = rule->Judge(good, complete);
  EXPECT_FALSE(once.stop) << once.explanation;
  EXPECT_TRUE(once.numbers.contains("expected_end"));
  for (std::size_t i = 4; i < 10; ++i) good.points[i].value = kNan;
  const Verdict diverged = rule->Judge(good, complete);
  EXPECT_TRUE(diverged.stop);
  EXPECT_EQ(diverged.explanation, "the last 6 values up to step 10 are not finite");
  for (CurvePoint& point : good.points) point.value = kNan;
  EXPECT_TRUE(rule->Judge(good, complete).stop);
  const Curve begun = CutAfter(good, 3);
  EXPECT_FALSE(rule->Judge(begun, complete).stop);
}

TEST(RegressionRule, StopsNoTrialThatHasNearlyEnded) {
  Trainer trainer(6);
  const std::vector<Curve> complete = trainer.Complete(20);
  const auto rule = NewRegression(Goal::kMinimize);
  const Curve poor = trainer.At(0.95, 0.05);
  EXPECT_TRUE(rule->Judge(CutAfter(poor, 36), complete).stop);
  // Judged next at report 44 of 50.
  const Verdict late = rule->Judge(CutAfter(poor, 45), complete);
  EXPECT_FALSE(late.stop);
  EXPECT_THAT(late.explanation, HasSubstr("of usually 50 values reported"));
  Curve endless = poor;  // Goes on where others end.
  for (int step = kRegressionLength + 1; step <= 2 * kRegressionLength; ++step) {
    endless.points.push_back({step, endless.points.back().value});
  }
  endless.finished = false;
  EXPECT_TRUE(rule->Judge(endless, complete).stop);
}

TEST(ReportNoise, IsThatOfASingleValue) {
  const std::vector<Curve> complete = Trainer(6).Complete(20);
  const auto noise = ReportNoise(CompleteCurves(complete));
  ASSERT_TRUE(noise.has_value());
  EXPECT_NEAR(*noise, kNoise, 0.15 * kNoise);
  const std::vector<Curve> short_ones = {MakeCurve({3, 2, 1}), MakeCurve({3, kNan, 1, kInf})};
  EXPECT_EQ(ReportNoise(CompleteCurves(short_ones)), std::nullopt);
  const std::vector<Curve> huge(4, MakeCurve({1e308, -1e308, 1e308, -1e308}));
  EXPECT_EQ(ReportNoise(CompleteCurves(huge)), std::nullopt);
}

TEST(ReportNoise, IsNotTheBendOfASmoothCurve) {
  std::vector<Curve> complete;
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<double> values;
    for (int step = 1; step <= 10; ++step) values.push_back(trial + 1.0 / step);
    complete.push_back(MakeCurve(values));
  }
  // The second difference of 1 / step is 0.004 at the end.
  EXPECT_LT(*ReportNoise(CompleteCurves(complete)), 1e-4);
}

TEST(AutomaticRule, IsTheRegressionRuleThatAsksForMoreThanTheNoise) {
  Trainer trainer(6);
  const std::vector<Curve> complete = trainer.Complete(20);
  const auto rule = NewAutomaticRule(Goal::kMinimize, {.name = "automatic"}).value();
  EXPECT_EQ(rule->name(), "automatic");
  EXPECT_EQ(rule->options(), "{}");
  const Verdict verdict = rule->Judge(CutAfter(trainer.At(0.95, 0.05), 10), complete);
  EXPECT_TRUE(verdict.stop) << verdict.explanation;
  const double noise = *ReportNoise(CompleteCurves(complete));
  const Curve promising = CutAfter(trainer.At(0.4, 0.7), 15);
  const Verdict as_noisy = rule->Judge(promising, complete);
  const Verdict by_option =
      NewRegression(Goal::kMinimize, {{"tolerance", noise}})->Judge(promising, complete);
  EXPECT_EQ(as_noisy.numbers, by_option.numbers);
  EXPECT_EQ(as_noisy.stop, by_option.stop);
}

TEST(AutomaticRule, HasNoOptions) {
  EXPECT_THAT(NewAutomaticRule(Goal::kMinimize, {.name = "automatic", .options = {{"p", 0.1}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "stopping.p: automatic has no options"));
}

TEST(RegressionRule, MaximizesAsItMinimizes) {
  Trainer trainer(7);
  const auto negated = [](Curve curve) {
    for (CurvePoint& point : curve.points) point.value = -point.value;
    return curve;
  };
  const std::vector<Curve> complete = trainer.Complete(15);
  std::vector<Curve> mirrored;
  for (const Curve& curve : complete) mirrored.push_back(negated(curve));
  for (std::size_t i = 3; i < 30; ++i) {
    const Curve part = CutAfter(trainer.Next(), i);
    const Verdict down = NewRegression(Goal::kMinimize)->Judge(part, complete);
    const Verdict up = NewRegression(Goal::kMaximize)->Judge(negated(part), mirrored);
    EXPECT_EQ(down.stop, up.stop);
    EXPECT_NEAR(std::log10(1e-300 + down.numbers.at("probability")),
                std::log10(1e-300 + up.numbers.at("probability")),
                1e-3);
  }
}

// Reports 3, 4, 5, 6, 8, 10, 12, 15, 18 … are judged; in between, the last judgement stands.
TEST(RegressionRule, JudgesLessOftenTheLongerACurve) {
  Trainer trainer(8);
  const std::vector<Curve> complete = trainer.Complete(10);
  const Curve whole = trainer.Next();
  const auto judged = [&](std::size_t reports) {
    return NewRegression(Goal::kMinimize)
        ->Judge(CutAfter(whole, reports), complete)
        .numbers.at("step");
  };
  EXPECT_EQ(judged(3), 3);
  EXPECT_EQ(judged(6), 6);
  EXPECT_EQ(judged(7), 6);
  EXPECT_EQ(judged(17), 15);
  EXPECT_EQ(judged(18), 18);
  EXPECT_EQ(NewRegression(Goal::kMinimize)->Judge(CutAfter(whole, 2), complete).explanation,
            "2 values reported, the trial is judged from 3 on");
}

TEST(RegressionRule, WaitsForTrialsThatEndedByThemselves) {
  Trainer trainer(9);
  std::vector<Curve> others = trainer.Complete(5);
  others.push_back(trainer.Next());
  Stop(others.back(), 10);
  const Verdict verdict =
      NewRegression(Goal::kMinimize)->Judge(CutAfter(trainer.Next(), 10), others);
  EXPECT_FALSE(verdict.stop);
  EXPECT_EQ(verdict.explanation, "5 trials ended by themselves, the rule needs 6");
  // All of them end before this step.
  others = trainer.Complete(6);
  for (Curve& curve : others) {
    for (CurvePoint& point : curve.points) point.step += 1000;
  }
  const Verdict before =
      NewRegression(Goal::kMinimize)->Judge(CutAfter(trainer.Next(), 10), others);
  EXPECT_FALSE(before.stop);
  EXPECT_EQ(before.explanation, "too few other trials have come further than step 10");
}

TEST(RegressionRule, IsNotMisledByAnExplodedOrAFlatStudy) {
  Trainer trainer(10);
  std::vector<Curve> others = trainer.Complete(12);
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{1e300, 1e305, 1e308}, {kNan, kInf, 0.4}, {1, kNan}}) {
    others.push_back(MakeCurve(values));
    others.back().coordinates = {0.5, 0.5};
  }
  const Curve whole = trainer.Next();
  const Verdict verdict = NewRegression(Goal::kMinimize)->Judge(CutAfter(whole, 15), others);
  ASSERT_TRUE(verdict.numbers.contains("expected_end")) << verdict.explanation;
  EXPECT_NEAR(verdict.numbers.at("expected_end"), whole.points.back().value, 0.2);
  const std::vector<Curve> flat(7, MakeCurve({0, 0, 0, 0, 0}));
  const Verdict same = NewRegression(Goal::kMinimize)->Judge(CutAfter(flat[0], 3), flat);
  EXPECT_TRUE(std::isfinite(same.numbers.at("probability"))) << same.explanation;
  Curve worse = MakeCurve({5, 5, 5}, /*finished=*/false);
  EXPECT_TRUE(NewRegression(Goal::kMinimize)->Judge(worse, flat).stop);
  worse.points.back().value = kNan;
  EXPECT_TRUE(NewRegression(Goal::kMinimize)->Judge(worse, flat).stop);
}

TEST(RegressionRule, DependsNeitherOnTheUnitNorOnTheStep) {
  Trainer trainer(11);
  const std::vector<Curve> complete = trainer.Complete(12);
  const Curve part = CutAfter(trainer.Next(), 9);
  const double expected = Predict(part, complete).mean;
  for (const double unit : {1e-12, 1e6, 1e100}) {
    const auto scaled = [unit](Curve curve) {
      for (CurvePoint& point : curve.points) point.value *= unit;
      return curve;
    };
    std::vector<Curve> others;
    for (const Curve& curve : complete) others.push_back(scaled(curve));
    EXPECT_NEAR(Predict(scaled(part), others).mean / unit, expected, 1e-6) << unit;
  }
  const auto sparse = [](Curve curve) {
    for (CurvePoint& point : curve.points) point.step = 500 * point.step;
    return curve;
  };
  std::vector<Curve> others;
  for (const Curve& curve : complete) others.push_back(sparse(curve));
  EXPECT_NEAR(Predict(sparse(part), others).mean, expected, 0.02);
}

TEST(RegressionRule, RefusesIllegalOptions) {
  const auto with = [](const Options& options) {
    return NewRegressionRule(Goal::kMaximize, {.name = "regression", .options = options});
  };
  EXPECT_THAT(with({{"p", 0.0}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("stopping.p: must be a number above 0 and at most 1, got 0")));
  EXPECT_THAT(with({{"min_trial", std::int64_t{3}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'min_trials'")));
}

}  // namespace
}  // namespace vernier
