#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/acquisition/expected_hypervolume.h"
#include "algorithms/gaussian_process/gp_optimizer.h"
#include "algorithms/numerics/normal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/gaussian_process/bowl.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using gp::BoxDecomposition;
using gp::Decompose;
using gp::ObjectiveVector;
using gp::Prediction;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::Bowl;
using ::vernier::testing::Get;
using ::vernier::testing::Log;
using ::vernier::testing::Square;

std::vector<ObjectiveVector> RandomVectors(std::size_t n, std::size_t objectives, Rng& rng) {
  std::vector<ObjectiveVector> points(n, ObjectiveVector(objectives));
  for (ObjectiveVector& point : points) {
    for (double& value : point) value = rng.Uniform();
  }
  return points;
}

// Points of which none dominates another: on a sphere.
std::vector<ObjectiveVector> RandomFront(std::size_t n, std::size_t objectives, Rng& rng) {
  std::vector<ObjectiveVector> points(n, ObjectiveVector(objectives));
  for (ObjectiveVector& point : points) {
    double squares = 0;
    for (double& value : point) {
      value = std::abs(rng.Normal());
      squares += value * value;
    }
    for (double& value : point) value /= std::sqrt(squares);
  }
  return points;
}

bool IsImprovement(const std::vector<ObjectiveVector>& points,
                   const ObjectiveVector& reference,
                   const ObjectiveVector& y) {
  for (std::size_t j = 0; j < y.size(); ++j) {
    if (y[j] <= reference[j]) return false;
  }
  const auto covers = [&y](const ObjectiveVector& point) {
    return std::equal(point.begin(), point.end(), y.begin(), std::greater_equal<>());
  };
  return std::none_of(points.begin(), points.end(), covers);
}

std::size_t BoxesAround(const BoxDecomposition& d, const ObjectiveVector& y) {
  std::size_t count = 0;
  for (std::size_t b = 0; b < d.boxes[0].size(); ++b) {
    bool is_inside = true;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const BoxDecomposition::Side side = d.boxes[j][b];
      is_inside = is_inside && d.levels[j][side.lower] < y[j] && y[j] <= d.levels[j][side.upper];
    }
    count += is_inside ? 1 : 0;
  }
  return count;
}

class Boxes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Boxes, HoldEveryImprovementOnce) {
  const std::size_t objectives = GetParam();
  Rng rng(objectives);
  const ObjectiveVector reference(objectives, 0.2);
  for (const std::size_t n : {0u, 1u, 2u, 7u, 20u}) {
    std::vector<ObjectiveVector> points = RandomVectors(n, objectives, rng);
    if (n > 2) points[1] = points[0];        // Twice the same.
    if (n > 2) points[2][0] = points[0][0];  // The same in one objective.
    const BoxDecomposition d = Decompose(points, reference);
    for (int i = 0; i < 300; ++i) {
      ObjectiveVector y(objectives);
      for (double& value : y) value = 1.3 * rng.Uniform();
      EXPECT_EQ(BoxesAround(d, y), IsImprovement(points, reference, y) ? 1u : 0u);
    }
  }
}

TEST_P(Boxes, AreFew) {
  const std::size_t objectives = GetParam();
  Rng rng(objectives);
  const std::size_t n = 30;
  const std::size_t boxes =
      Decompose(RandomFront(n, objectives, rng), ObjectiveVector(objectives, -0.1)).boxes[0].size();
  const std::vector<std::size_t> most = {0, 1, n + 1, 3 * n, n * n};
  EXPECT_LE(boxes, most[objectives]);
}

INSTANTIATE_TEST_SUITE_P(Objectives, Boxes, ::testing::Values(1u, 2u, 3u, 4u));

TEST(Spread, KeepsTheEndsAndWhatIsFarApart) {
  const std::vector<ObjectiveVector> points = {{0, 4}, {1, 3}, {1.1, 2.9}, {2, 2}, {4, 0}};
  EXPECT_THAT(gp::Spread(points, 9), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(gp::Spread(points, 3), ElementsAre(0, 3, 4));
  EXPECT_THAT(gp::Spread(points, 1), ElementsAre(4));
  EXPECT_THAT(gp::Spread(std::vector<ObjectiveVector>(3, {1, 1}), 2), ElementsAre(0, 1));
}

std::vector<Prediction> RandomPredictions(std::size_t objectives, Rng& rng) {
  std::vector<Prediction> predictions;
  for (std::size_t j = 0; j < objectives; ++j) {
    predictions.push_back(
        {.mean = 0.3 + 0.5 * rng.Uniform(), .variance = 0.02 + 0.05 * rng.Uniform()});
  }
  return predictions;
}

// Mean over drawn outcomes of the volume between the reference and the outcome that no point dominates, that volume itself
// by a drawn point in it.
double SampledGain(const std::vector<ObjectiveVector>& points,
                   const ObjectiveVector& reference,
                   const std::vector<Prediction>& predictions,
                   Rng& rng) {
  constexpr int kSamples = 200000;
  double sum = 0;
  for (int s = 0; s < kSamples; ++s) {
    double volume = 1;
    ObjectiveVector inside;
    for (std::size_t j = 0; j < reference.size(); ++j) {
      const double y = predictions[j].mean + std::sqrt(predictions[j].variance) * rng.Normal();
      const double extent = std::max(0.0, y - reference[j]);
      volume *= extent;
      inside.push_back(reference[j] + extent * rng.Uniform());
    }
    if (volume > 0 && IsImprovement(points, reference, inside)) sum += volume;
  }
  return sum / kSamples;
}

TEST_P(Boxes, GiveTheExpectedGain) {
  const std::size_t objectives = GetParam();
  Rng rng(10 + objectives);
  const ObjectiveVector reference(objectives, 0.1);
  for (const std::size_t n : {0u, 3u, 8u}) {
    const std::vector<ObjectiveVector> points = RandomVectors(n, objectives, rng);
    const std::vector<Prediction> predictions = RandomPredictions(objectives, rng);
    const double gain =
        std::exp(gp::LogExpectedHypervolumeGain(Decompose(points, reference), predictions));
    EXPECT_NEAR(gain / SampledGain(points, reference, predictions, rng), 1.0, 0.03);
  }
}

TEST_P(Boxes, GiveTheGradientOfTheGain) {
  const std::size_t objectives = GetParam();
  Rng rng(20 + objectives);
  const BoxDecomposition d =
      Decompose(RandomVectors(8, objectives, rng), ObjectiveVector(objectives, 0.1));
  for (const double variance :
       {1.0, 1e-4}) {  // The second: far in the tail, the gain next to nothing.
    std::vector<Prediction> predictions = RandomPredictions(objectives, rng);
    for (Prediction& p : predictions) p.variance *= variance;
    const gp::LogHypervolumeGain gain = gp::LogExpectedHypervolumeGainWithGradient(d, predictions);
    EXPECT_NEAR(gain.value, gp::LogExpectedHypervolumeGain(d, predictions), 1e-12);
    for (std::size_t j = 0; j < objectives; ++j) {
      const auto slope = [&](double Prediction::*field) {
        const double step = 1e-5 * (field == &Prediction::mean ? std::sqrt(predictions[j].variance)
                                                               : predictions[j].variance);
        std::vector<Prediction> up = predictions;
        std::vector<Prediction> down = predictions;
        up[j].*field += step;
        down[j].*field -= step;
        return (gp::LogExpectedHypervolumeGain(d, up) - gp::LogExpectedHypervolumeGain(d, down)) /
               (2 * step);
      };
      const double by_mean = slope(&Prediction::mean);
      const double by_variance = slope(&Prediction::variance);
      EXPECT_NEAR(gain.by_mean[j], by_mean, 1e-5 * std::max(1.0, std::abs(by_mean)));
      EXPECT_NEAR(gain.by_variance[j], by_variance, 1e-5 * std::max(1.0, std::abs(by_variance)));
    }
  }
}

TEST(ExpectedGain, OfOneObjectiveIsTheExpectedImprovement) {
  const BoxDecomposition d = Decompose({}, {0.4});
  for (const double mean : {-30.0, 0.0, 0.4, 3.0}) {
    const double improvement =
        numerics::LogExpectedImprovement((mean - 0.4) / 0.5).value + std::log(0.5);
    const std::vector<Prediction> at = {{.mean = mean, .variance = 0.25}};
    EXPECT_EQ(gp::LogExpectedHypervolumeGain(d, at), improvement);
  }
}

double Distance(const Point& point, double x, double y) {
  return std::hypot(Get(point, "x") - x, Get(point, "y") - y);
}

// What a trial of a point would report.
using Trial = std::pair<std::vector<double>, std::vector<double>>;

std::vector<Observation> Optimise(const Problem& problem,
                                  const std::function<Trial(const Point&)>& run,
                                  int trials) {
  const auto optimizer = NewGpOptimizer(problem, {.name = "gp", .options = {}}).value();
  std::vector<Observation> finished;
  std::string state;
  for (int i = 1; i <= trials; ++i) {
    Suggestions s = optimizer
                        ->Suggest(Log(problem, finished),
                                  {},
                                  state,
                                  Rng(1).Fork(static_cast<std::uint64_t>(i)),
                                  1,
                                  {})
                        .value();
    state = std::move(s.state);
    const auto [values, slacks] = run(s.points[0].point);
    finished.push_back({TrialNumber(i), s.points[0].point, Outcome::kCompleted, values, slacks});
  }
  return finished;
}

double HypervolumeOfTwo(std::vector<ObjectiveVector> points, const ObjectiveVector& reference) {
  std::sort(points.begin(), points.end(), std::greater<>());
  double volume = 0;
  double height = reference[1];
  for (const ObjectiveVector& point : points) {
    if (point[0] <= reference[0] || point[1] <= height) continue;
    volume += (point[0] - reference[0]) * (point[1] - height);
    height = point[1];
  }
  return volume;
}

TEST(GpOptimizer, SpreadsOverTheFrontOfTwoObjectives) {
  // Near (0.2, 0.5) and near (0.8, 0.5): best are the points between, where the distances add up to 0.6.
  const Problem problem{.space = Square(),
                        .objectives = {{.metric = "a", .goal = Goal::kMinimize},
                                       {.metric = "b", .goal = Goal::kMaximize}}};
  const auto run = [](const Point& point) {
    return Trial({Distance(point, 0.2, 0.5), -Distance(point, 0.8, 0.5)}, {});
  };
  std::vector<ObjectiveVector> front;
  for (const Observation& trial : Optimise(problem, run, 30)) {
    front.push_back({-trial.values[0], trial.values[1]});
  }
  // All of the front dominates half of the square, 0.18.
  EXPECT_GT(HypervolumeOfTwo(front, {-0.6, -0.6}), 0.155);
}

// The bowl is least where the constraint is broken.
Problem Constrained() {
  return {.space = Square(),
          .objectives = {{.metric = "loss", .goal = Goal::kMinimize}},
          .outcome_constraints = {"latency <= 0.6"}};
}

TEST(GpOptimizer, FollowsAnOutcomeConstraintToItsEdge) {
  const auto run = [](const Point& point) {
    return Trial({Bowl(point)}, {0.6 - Get(point, "x") - Get(point, "y")});
  };
  double best = 1e9;
  for (const Observation& trial : Optimise(Constrained(), run, 25)) {
    if (trial.slacks[0] >= 0) best = std::min(best, trial.values[0]);
  }
  // Least on the edge at x = 0.475, y = 0.125: 3/4 (0.3)^2.
  EXPECT_GE(best, 0.0675 - 1e-9);
  EXPECT_LT(best, 0.07);
}

TEST(GpOptimizer, LooksForAPointThatKeepsTheConstraints) {
  // Kept in a twentieth of the square only, far from where the objective is good.
  const auto run = [](const Point& point) {
    return Trial({Bowl(point)}, {0.13 - Distance(point, 0.15, 0.85)});
  };
  const std::vector<Observation> trials = Optimise(Constrained(), run, 20);
  const auto kept = [](const Observation& trial) { return trial.slacks[0] >= 0; };
  EXPECT_GE(std::count_if(trials.begin(), trials.end(), kept), 3);
}

TEST(GpOptimizer, DoesWithoutAConstraintThatNoTrialToldOf) {
  const Problem problem = Constrained();
  std::vector<Observation> trials;
  Rng rng(2);
  for (int i = 1; i <= 8; ++i) {
    const Point point{{"x", rng.Uniform()}, {"y", rng.Uniform()}};
    trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {Bowl(point)}, {}});
  }
  const auto optimizer = NewGpOptimizer(problem, {.name = "gp", .options = {}}).value();
  ASSERT_OK_AND_ASSIGN(const Suggestions without,
                       optimizer->Suggest(Log(problem, trials), {}, "", Rng(1), 1, {}));
  EXPECT_EQ(without.points[0].note, "no trial told how far it keeps 'latency <= 0.6'");
  trials[0].slacks = {-0.1};
  trials[1].slacks = {0.2};
  ASSERT_OK_AND_ASSIGN(const Suggestions with,
                       optimizer->Suggest(Log(problem, trials), {}, "", Rng(1), 1, {}));
  EXPECT_THAT(with.points[0].note, HasSubstr("keeps 'latency <= 0.6' with probability 0."));
}

TEST(GpOptimizer, TakesPendingPointsOfSeveralObjectivesForBelieved) {
  const Problem problem{.space = Square(),
                        .objectives = {{.metric = "a", .goal = Goal::kMinimize},
                                       {.metric = "b", .goal = Goal::kMinimize},
                                       {.metric = "c", .goal = Goal::kMinimize}},
                        .outcome_constraints = {"d >= 0"}};
  std::vector<Observation> trials;
  Rng rng(2);
  for (int i = 1; i <= 12; ++i) {
    const Point point{{"x", rng.Uniform()}, {"y", rng.Uniform()}};
    trials.push_back({TrialNumber(i),
                      point,
                      Outcome::kCompleted,
                      {Distance(point, 0, 0), Distance(point, 1, 0), Distance(point, 0, 1)},
                      {Get(point, "x") - 0.3}});
  }
  const auto optimizer = NewGpOptimizer(problem, {.name = "gp", .options = {}}).value();
  ASSERT_OK_AND_ASSIGN(const Suggestions s,
                       optimizer->Suggest(Log(problem, trials), {}, "", Rng(1), 6, {}));
  ASSERT_EQ(s.points.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(s.points[i].origin, "model");
    for (std::size_t j = 0; j < i; ++j) {
      const Point& other = s.points[j].point;
      EXPECT_GT(Distance(s.points[i].point, Get(other, "x"), Get(other, "y")), 1e-3);
    }
  }
}

}  // namespace
}  // namespace vernier
