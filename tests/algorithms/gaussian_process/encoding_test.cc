// What the model sees of points, values and failures, and what it remembers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/targets.h"
#include "algorithms/gaussian_process/search/candidates.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/encoded_trials.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/inverse_normal.h"
#include "tests/algorithms/spaces.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"

namespace vernier::gp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;

// One parameter of each kind, two of them conditional.
Space EveryKind() {
  const std::vector<ParameterValue> choices = {
      std::string("sgd"), std::string("adam"), std::string("lion")};
  return Space::Create({{.name = "rate",
                         .domain = FloatDomain{.lower = 1e-5, .upper = 0.1, .scale = Scale::kLog}},
                        {.name = "width",
                         .domain = IntDomain{.lower = 1, .upper = 300, .scale = Scale::kLog}},
                        {.name = "batch", .domain = DiscreteDomain{{16, 32, 64, 128}}},
                        {.name = "optimizer", .domain = CategoricalDomain{choices}},
                        {.name = "momentum",
                         .domain = FloatDomain{.lower = 0.5, .upper = 0.99},
                         .when = {{.parent = "optimizer", .values = {std::string("sgd")}}}},
                        {.name = "nesterov",
                         .domain = BoolDomain{},
                         .when = {{.parent = "optimizer", .values = {std::string("sgd")}}}},
                        {.name = "fixed", .domain = IntDomain{.lower = 3, .upper = 3}}})
      .value();
}

std::vector<Coordinates> RandomConfigurations(const CoordinateSpace& space, int count) {
  Rng rng(1);
  std::vector<Coordinates> configurations;
  for (int i = 0; i < count; ++i) {
    Coordinates u(static_cast<std::size_t>(space.size()));
    for (double& coordinate : u) coordinate = rng.Uniform();
    space.Round(u);
    configurations.push_back(std::move(u));
  }
  return configurations;
}

TEST(Coordinates, RoundedOnesAreThoseOfTheLegalPoint) {
  const Space space = EveryKind();
  const CoordinateSpace coordinates(space);
  for (const Coordinates& u : RandomConfigurations(coordinates, 200)) {
    const Point point = coordinates.Decode(u);
    EXPECT_TRUE(space.Check(point).ok());
    const std::vector<std::optional<double>> encoded = EncodePoint(space, point);
    std::vector<char> active;
    coordinates.Activity(u, active);
    for (std::size_t k = 0; k < u.size(); ++k) {
      EXPECT_EQ(active[k] != 0, encoded[k].has_value());
      if (encoded[k]) {
        EXPECT_NEAR(u[k], *encoded[k], 1e-12);
      }
    }
  }
}

TEST(Coordinates, CellsAndIndicesAreInverse) {
  const CoordinateSpace coordinates(EveryKind());
  for (int k = 0; k < coordinates.size(); ++k) {
    for (std::int64_t i = 0; i < coordinates.count(k); ++i) {
      EXPECT_EQ(coordinates.IndexAt(k, coordinates.CellOf(k, i)), i);
    }
  }
}

double FeatureDistance(const FeatureMap& features, const Coordinates& a, const Coordinates& b) {
  const Eigen::MatrixXd rows = features.Matrix({a, b});
  return (rows.row(0) - rows.row(1)).norm();
}

TEST(Features, DistancesFollowTheKindOfParameter) {
  const CoordinateSpace space(EveryKind());
  const FeatureMap features(space);
  // rate, width, batch, optimizer, momentum, nesterov, fixed
  const Coordinates adam = {0.2, 0.5, 0.125, 0.5, 0.1, 0.25, 0.5};
  Coordinates other = adam;
  other[0] = 0.7;
  EXPECT_NEAR(FeatureDistance(features, adam, other), 0.5, 1e-12);
  other = adam;
  other[2] =
      0.375;  // 16 and 32 of [16, 32, 64, 128]: a third of the way on the scale of logarithms.
  EXPECT_NEAR(FeatureDistance(features, adam, other), 1.0 / 3.0, 1e-12);
  other = adam;
  other[3] = 5.0 / 6.0;
  EXPECT_NEAR(FeatureDistance(features, adam, other), 1.0, 1e-12);
  other = adam;
  other[4] = 0.9;  // Inactive: makes no difference.
  EXPECT_EQ(FeatureDistance(features, adam, other), 0.0);
}

// 90,000 of them in a column each would take a gigabyte for some hundreds of candidates.
TEST(Features, VeryManyChoicesTakeFewColumnsAndAreAboutEquallyFarApart) {
  CategoricalDomain choices;
  for (int i = 0; i < 90'000; ++i) choices.values.emplace_back(std::to_string(i));
  const CoordinateSpace space(
      Space::Create({{.name = "word", .domain = choices}, {.name = "x", .domain = FloatDomain{}}})
          .value());
  const FeatureMap features(space);
  EXPECT_EQ(features.columns(), 65);
  EXPECT_EQ(features.groups(), 2);
  Rng rng(1);
  double least = 2;
  double most = 0;
  for (int i = 0; i < 2000; ++i) {
    Coordinates a = {rng.Uniform(), 0.5};
    Coordinates b = {rng.Uniform(), 0.5};
    space.Round(a);
    space.Round(b);
    if (a == b) continue;
    const double distance = FeatureDistance(features, a, b);
    least = std::min(least, distance);
    most = std::max(most, distance);
    EXPECT_EQ(FeatureDistance(features, a, a), 0.0);
  }
  EXPECT_GT(least, 0.7);
  EXPECT_LT(most, 1.3);
  const std::vector<Coordinates> neighbours = Neighbours(space, Coordinates{0.5, 0.5});
  EXPECT_GT(neighbours.size(), 200u);
  EXPECT_LE(neighbours.size(), 256u);
}

TEST(Features, AllActiveValuesAreEquallyFarFromInactivity) {
  const CoordinateSpace space(EveryKind());
  const FeatureMap features(space);
  Coordinates adam = {0.2, 0.5, 0.125, 0.5, 0.0, 0.25, 0.5};
  Coordinates sgd = adam;
  sgd[3] = 1.0 / 6.0;
  const double at_zero = FeatureDistance(features, adam, sgd);
  for (const double momentum : {0.3, 0.8, 1.0}) {
    sgd[4] = momentum;
    EXPECT_NEAR(FeatureDistance(features, adam, sgd), at_zero, 1e-12);
  }
}

TEST(Features, PullBackIsTheChainRule) {
  const CoordinateSpace space(EveryKind());
  const FeatureMap features(space);
  Coordinates u = {0.2, 0.5, 0.125, 1.0 / 6.0, 0.4, 0.25, 0.5};
  space.Round(u);
  std::vector<char> active;
  space.Activity(u, active);
  Eigen::RowVectorXd weights(features.columns());
  for (Eigen::Index k = 0; k < weights.size(); ++k) weights[k] = 1.0 + 0.3 * static_cast<double>(k);
  Coordinates gradient(u.size());
  features.PullBack(u, active, weights, gradient);
  for (const std::size_t k : {std::size_t{0}, std::size_t{4}}) {
    Coordinates above = u;
    Coordinates below = u;
    above[k] += 1e-6;
    below[k] -= 1e-6;
    const Eigen::MatrixXd rows = features.Matrix({above, below});
    EXPECT_NEAR(gradient[k], weights.dot(rows.row(0) - rows.row(1)) / 2e-6, 1e-8);
  }
  EXPECT_EQ(gradient[1], 0.0);  // Integers have no gradient.
}

TEST(Candidates, NeighboursDifferInOneActiveParameter) {
  const CoordinateSpace space(EveryKind());
  Coordinates adam = {0.2, 0.5, 0.125, 0.5, 0.1, 0.25, 0.5};
  space.Round(adam);
  const std::vector<Coordinates> neighbours = Neighbours(space, adam);
  ASSERT_FALSE(neighbours.empty());
  for (const Coordinates& neighbour : neighbours) {
    int different = 0;
    for (std::size_t k = 0; k < adam.size(); ++k) different += neighbour[k] != adam[k] ? 1 : 0;
    EXPECT_EQ(different, 1);
    EXPECT_EQ(neighbour[0], adam[0]);  // Continuous.
    EXPECT_EQ(neighbour[5], adam[5]);  // Inactive.
  }
}

TEST(Candidates, PerturbationsAlwaysMoveSomething) {
  const CoordinateSpace space(EveryKind());
  const std::vector<Coordinates> centres = RandomConfigurations(space, 3);
  Rng rng(2);
  const std::vector<Coordinates> near = NearbyCandidates(space, centres, 90, rng);
  for (std::size_t i = 0; i < near.size(); ++i) EXPECT_NE(near[i], centres[i % 3]);
}

TEST(TargetScale, KeepsTheOrderAndTamesBadOutliers) {
  const std::vector<double> values = {-1e30, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  const TargetScale scale(values, Warp::kHalfRank);
  const Eigen::VectorXd targets = scale.Targets(values);
  for (Eigen::Index i = 1; i < targets.size(); ++i) EXPECT_GT(targets[i], targets[i - 1]);
  EXPECT_GT(targets[0], -4.0);
  EXPECT_NEAR(targets.mean(), 0.0, 1e-12);
  EXPECT_NEAR(targets.squaredNorm() / 7.0, 1.0, 1e-12);
  // The good half keeps its distances.
  EXPECT_NEAR(targets[6] - targets[5], targets[5] - targets[4], 1e-9);
}

TEST(TargetScale, BackwardInvertsForward) {
  const std::vector<double> values = {3, -7, 12, 12, 0.5, 100, -40};
  for (const Warp warp : kWarps) {
    const TargetScale scale(values, warp);
    for (const double value : {-100.0, -40.0, -8.0, 0.0, 3.0, 50.0, 100.0, 250.0}) {
      EXPECT_NEAR(scale.Backward(scale.Forward(value)), value, 1e-10 * (1 + std::abs(value)));
    }
  }
}

TEST(TargetScale, PowerMakesSkewedValuesSymmetric) {
  std::vector<double> values;
  for (int i = 0; i < 99; ++i) values.push_back(std::exp(2.0 * InverseNormal((i + 0.5) / 99)));
  const TargetScale scale(values, Warp::kPower);
  const Eigen::ArrayXd targets = scale.Targets(values).array();
  EXPECT_NEAR(targets.mean(), 0.0, 1e-12);
  EXPECT_NEAR(targets.square().mean(), 1.0, 1e-12);
  EXPECT_LT(std::abs(targets.cube().mean()), 1.2);  // Of the values themselves: more than 5.
  for (Eigen::Index i = 1; i < targets.size(); ++i) EXPECT_GT(targets[i], targets[i - 1]);
}

class TargetExtremes : public ::testing::TestWithParam<std::vector<double>> {};

TEST_P(TargetExtremes, StayFiniteBothWays) {
  for (const Warp warp : kWarps) {
    const TargetScale scale(GetParam(), warp);
    const Eigen::VectorXd targets = scale.Targets(GetParam());
    EXPECT_TRUE(targets.allFinite());
    EXPECT_LE(targets.cwiseAbs().maxCoeff(), 10.0);
    for (const double value : GetParam()) {
      EXPECT_NEAR(scale.Backward(scale.Forward(value)), value, 1e-12 * std::abs(value));
    }
    EXPECT_TRUE(std::isfinite(scale.Backward(1e300)));
    EXPECT_TRUE(std::isfinite(scale.Backward(-1e300)));
  }
}

INSTANTIATE_TEST_SUITE_P(Table,
                         TargetExtremes,
                         ::testing::Values(std::vector<double>{5.0},
                                           std::vector<double>{2.0, 2.0, 2.0},
                                           std::vector<double>{0.0, 0.0},
                                           std::vector<double>{1e30, 2e30, -1e30},
                                           std::vector<double>{1.7e308, -1.7e308, 0.0},
                                           std::vector<double>{5e-324, 0.0},
                                           std::vector<double>{1.0, 1.0, 1.0, 0.0}));

Problem MinimiseMetrics(std::vector<std::string> metrics) {
  Problem problem{.space = Space::Create({{.name = "x", .domain = FloatDomain{}}}).value(),
                  .objectives = {}};
  for (std::string& metric : metrics) {
    problem.objectives.push_back({.metric = std::move(metric), .goal = Goal::kMinimize});
  }
  return problem;
}

TEST(EncodedTrials, SortsTrialsByWhatTheyAreWorth) {
  const Problem problem = MinimiseMetrics({"loss"});
  const CoordinateSpace coordinates(problem.space);
  const auto at = [](double x) { return Point{{"x", x}}; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Observation> finished = {
      {TrialNumber(1), at(0.1), Outcome::kCompleted, {1.0}},
      {TrialNumber(2), at(0.2), Outcome::kCompleted, {nan}},
      {TrialNumber(3), at(0.3), Outcome::kFailed, {}},
      {TrialNumber(4), at(0.4), Outcome::kCompleted, {3.0}},
      {TrialNumber(5), at(0.5), Outcome::kStoppedEarly, {0.5}},
      {TrialNumber(6), at(0.6), Outcome::kInfeasible, {}},
      {TrialNumber(7), at(0.7), Outcome::kCompleted, {2.0}}};
  EncodedTrials history;
  Update(coordinates, problem, testing::Log(problem, finished), history);
  // Stopped early at 0.5, which looks best of all: counts as the median of the completed, -2.
  EXPECT_THAT(ModelledValues(history, 0), ElementsAre(-1.0, -3.0, -2.0, -2.0));
  EXPECT_EQ(history.failed.size(), 3u);
}

TEST(EncodedTrials, ATrialThatWasStoppedCountsAsItsExpectedEnd) {
  Problem problem = MinimiseMetrics({"loss"});
  const auto stopped = [](double x, double last, double end) {
    return Observation{.trial = TrialNumber(static_cast<int>(100 * x)),
                       .point = Point{{"x", x}},
                       .outcome = Outcome::kStoppedEarly,
                       .values = {last},
                       .expected_end = ExpectedEnd{.mean = end, .deviation = 0.1}};
  };
  const std::vector<Observation> finished = {
      {TrialNumber(1), Point{{"x", 0.1}}, Outcome::kCompleted, {1.0}},
      {TrialNumber(2), Point{{"x", 0.2}}, Outcome::kCompleted, {3.0}},
      stopped(0.3, 5.0, 2.5),
      stopped(0.4, 5.0, 0.5),  // Nobody measured that it is better than the best.
      stopped(0.5, 2.0, std::numeric_limits<double>::infinity())};
  for (const Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
    problem.objectives[0].goal = goal;
    std::vector<Observation> trials = finished;
    for (Observation& trial : trials) {
      if (goal == Goal::kMinimize) break;
      trial.values[0] *= -1;
      if (trial.expected_end.has_value()) trial.expected_end->mean *= -1;
    }
    const CoordinateSpace coordinates(problem.space);
    EncodedTrials history;
    Update(coordinates, problem, testing::Log(problem, trials), history);
    EXPECT_THAT(ModelledValues(history, 0), ElementsAre(-1.0, -3.0, -2.5, -1.0, -3.0));
    EXPECT_THAT(ModelledDeviations(history, 0), ElementsAre(0, 0, 0.1, 0.1, 0));
    EXPECT_THAT(ModelledDeviations(history, 1), ::testing::IsEmpty());
  }
}

TEST(EncodedTrials, ATrialMissesNoObjectiveButMayMissAConstraint) {
  Problem problem = MinimiseMetrics({"loss", "cost"});
  problem.objectives[1].goal = Goal::kMaximize;
  problem.outcome_constraints = {"a <= 1", "b <= 1"};
  const CoordinateSpace coordinates(problem.space);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Observation> finished = {
      {TrialNumber(1), Point{{"x", 0.1}}, Outcome::kCompleted, {1.0, 5.0}, {0.5, nan}},
      {TrialNumber(2), Point{{"x", 0.2}}, Outcome::kCompleted, {1.0, nan}, {0.5, 0.5}},
      {TrialNumber(3), Point{{"x", 0.3}}, Outcome::kCompleted, {}, {0.5, 0.5}},
      {TrialNumber(4), Point{{"x", 0.4}}, Outcome::kStoppedEarly, {0.0, 9.0}},
      {TrialNumber(5), Point{{"x", 0.5}}, Outcome::kCompleted, {3.0, 7.0}, {-0.5, 2.0}}};
  EncodedTrials history;
  Update(coordinates, problem, testing::Log(problem, finished), history);
  EXPECT_THAT(ModelledValues(history, 0), ElementsAre(-1.0, -3.0, -3.0));
  EXPECT_THAT(ModelledValues(history, 1), ElementsAre(5.0, 5.0, 7.0));
  ASSERT_EQ(history.slacks.size(), 2u);
  EXPECT_THAT(history.slacks[0], ElementsAre(0.5, IsNan(), -0.5));
  EXPECT_THAT(history.slacks[1], ElementsAre(IsNan(), IsNan(), 2.0));
  EXPECT_EQ(history.failed.size(), 2u);
}

TEST(EncodedTrials, ReadsOnlyWhatIsNew) {
  const Problem problem = MinimiseMetrics({"loss"});
  const CoordinateSpace coordinates(problem.space);
  std::vector<Observation> trials;
  for (int i = 1; i <= 20; ++i) {
    trials.push_back(
        {.trial = TrialNumber(i), .point = Point{{"x", 0.04 * i}}, .values = {1.0 * i}});
    if (i % 4 == 0) trials.back().outcome = Outcome::kStoppedEarly;
    if (i % 7 == 0) trials.back() = {trials.back().trial, trials.back().point, Outcome::kFailed};
  }
  const TrialLog::View all = testing::Log(problem, trials);
  EncodedTrials grown;
  for (const std::size_t count : {0u, 3u, 11u, 11u, 20u, 5u, 20u}) {  // Once it begins again.
    Update(coordinates, problem, all.Prefix(count), grown);
    EncodedTrials fresh;
    Update(coordinates, problem, all.Prefix(count), fresh);
    EXPECT_EQ(grown.points, fresh.points);
    EXPECT_EQ(grown.failed, fresh.failed);
    EXPECT_EQ(ModelledValues(grown, 0), ModelledValues(fresh, 0));
  }
  EXPECT_EQ(grown.trials(), 20u);
  EXPECT_EQ(grown.failed.size(), 2u);
}

TEST(EncodedTrials, SubsetHoldsTheBestAndTheLatest) {
  std::vector<std::vector<double>> values(1, std::vector<double>(500));
  for (std::size_t i = 0; i < 500; ++i) values[0][i] = -std::abs(static_cast<double>(i) - 100.0);
  const std::vector<std::size_t> chosen = ChooseModelled(values, 50);
  EXPECT_EQ(chosen.size(), 50u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_THAT(chosen, ::testing::IsSupersetOf({95u, 100u, 105u, 490u, 499u}));
  EXPECT_EQ(ChooseModelled(values, 500).size(), 500u);
  // Of two objectives, the best in each.
  values.emplace_back(500);
  for (std::size_t i = 0; i < 500; ++i) values[1][i] = -std::abs(static_cast<double>(i) - 300.0);
  EXPECT_THAT(ChooseModelled(values, 50), ::testing::IsSupersetOf({100u, 101u, 300u, 301u, 499u}));
}

constexpr StateShape kShape = {.metrics = 2, .groups = 2, .coordinates = 3};

TEST(State, ReadsBackTheSameBits) {
  GpState state;
  state.whole.metrics.resize(2);
  MetricState& metric = state.whole.metrics[1];
  metric.by_warp[0] = {.log_length_scales = {0.1, -1.0 / 3.0},
                       .log_signal = 1e-17,
                       .log_main = 2.0 / 7.0,
                       .log_noise = -9.5};
  metric.by_warp[1] = Prior().Mode(2);
  metric.warp = Warp::kPower;
  metric.anchor = 12;
  state.whole.fitted_at = 17;
  state.whole.fits = 12;
  state.nearby = state.whole;
  state.nearby.metrics[1].by_warp[0]->log_noise = -3.25;
  state.nearby.fits = 2;
  state.best = {0.0, 1.0 / 3.0, 1.0};
  state.design_seed = 0xFFFFFFFFFFFFFFFFull;
  const GpState read = ParseState(FormatState(state), kShape);
  EXPECT_FALSE(read.whole.metrics[0].by_warp[0].has_value());
  EXPECT_EQ(read.whole.metrics[1].by_warp[0]->Pack(), metric.by_warp[0]->Pack());
  EXPECT_EQ(read.whole.metrics[1].by_warp[1]->Pack(), metric.by_warp[1]->Pack());
  EXPECT_EQ(read.whole.metrics[1].warp, Warp::kPower);
  EXPECT_EQ(read.whole.metrics[1].anchor, 12);
  EXPECT_EQ(read.whole.fitted_at, 17);
  EXPECT_EQ(read.whole.fits, 12);
  EXPECT_EQ(read.nearby.metrics[1].by_warp[0]->log_noise, -3.25);
  EXPECT_EQ(read.nearby.fits, 2);
  EXPECT_EQ(read.best, state.best);
  EXPECT_EQ(read.design_seed, state.design_seed);
  EXPECT_EQ(FormatState(read), FormatState(state));
}

TEST(State, IsSilentOfTrialsNearbyUntilAModelOfThemWasFitted) {
  EXPECT_THAT(FormatState(GpState()), ::testing::Not(::testing::HasSubstr("nearby")));
}

TEST(State, WhatCannotBeReadCountsAsEmpty) {
  for (const std::string text :
       {"",
        "{",
        "[1, 2]",
        "null",
        R"({"format":2,"half_rank":[0,0,0,0,0],"power":[0,0,0,0,0]})",
        R"({"format":5,"whole":{"metrics":{}}})",
        R"({"format":5,"whole":{"metrics":[7]}})",
        R"({"format":5,"whole":{"metrics":[{"half_rank":[0,0,0,0,0]}]}})",
        R"({"format":5,"whole":{"metrics":[{"power":[0,0,0,0,0]}]}})",
        R"({"format":5,"whole":{"metrics":[{"half_rank":[0,0,0,0],"power":[0]}]}})",
        R"({"format":5,"whole":{"metrics":[{"half_rank":[0,0,"x",0,0],
                                     "power":[0,0,1e300,0,0]}]},"design_seed":-1})",
        R"({"format":5,"whole":{"metrics":[],"fitted_at":"no"}})",
        R"({"format":5,"whole":7,"nearby":[]})",
        R"({"format":5,"best":7})",
        R"({"format":5,"best":[0.5,0.5]})",
        R"({"format":5,"best":[0.5,0.5,"0.5"]})",
        R"({"format":5,"best":[0.5,0.5,1.5]})"}) {
    const GpState state = ParseState(text, kShape);
    ASSERT_EQ(state.whole.metrics.size(), kShape.metrics) << text;
    ASSERT_EQ(state.nearby.metrics.size(), kShape.metrics) << text;
    EXPECT_FALSE(state.whole.metrics[0].by_warp[0].has_value()) << text;
    EXPECT_FALSE(state.whole.metrics[0].by_warp[1].has_value()) << text;
    EXPECT_FALSE(state.best.has_value()) << text;
    EXPECT_FALSE(state.design_seed.has_value()) << text;
  }
}

TEST(Refit, IsDueForEachTrialAtFirstThenByGrowth) {
  EXPECT_TRUE(IsRefitDue(0, 3));
  EXPECT_TRUE(IsRefitDue(29, 30));
  EXPECT_FALSE(IsRefitDue(30, 30));
  EXPECT_FALSE(IsRefitDue(100, 104));
  EXPECT_TRUE(IsRefitDue(100, 105));
  EXPECT_TRUE(IsRefitDue(100, 60));  // The state of another history.
}

TEST(Refit, TakesAStandardStartAtEveryFourthFitOfAWarpInTurn) {
  const StandardStartByWarp none;
  EXPECT_EQ(StandardStartsDue(12, 14), none);
  EXPECT_EQ(StandardStartsDue(11, 15), none);
  EXPECT_EQ(StandardStartsDue(12, 15), (StandardStartByWarp{3, std::nullopt}));
  EXPECT_EQ(StandardStartsDue(13, 16), none);
  EXPECT_EQ(StandardStartsDue(14, 17), (StandardStartByWarp{std::nullopt, 4}));
  EXPECT_EQ(StandardStartsDue(16, 1000), (StandardStartByWarp{4, std::nullopt}));
}

TEST(Refit, OfTrialsNearbyIsDueAfterEveryTwentieth) {
  EXPECT_TRUE(IsNearbyRefitDue(0, 1025));
  EXPECT_FALSE(IsNearbyRefitDue(1025, 1044));
  EXPECT_TRUE(IsNearbyRefitDue(1025, 1045));
  EXPECT_TRUE(IsNearbyRefitDue(1025, 60));  // The state of another history.
}

TEST(State, KeepsCountsThatAreNoneInBounds) {
  const auto fits = [](const std::string& count) {
    return ParseState(R"({"format":5,"whole":{"fits":)" + count + "}}", kShape).whole.fits;
  };
  EXPECT_EQ(fits("12"), 12);
  EXPECT_EQ(fits("-1"), 0);
  EXPECT_EQ(fits("9223372036854775807"), 1'000'000'000'000);
  EXPECT_EQ(fits(R"("12")"), 0);
}

}  // namespace
}  // namespace vernier::gp
