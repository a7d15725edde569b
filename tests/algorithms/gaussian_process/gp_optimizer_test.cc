#include "algorithms/gaussian_process/gp_optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/gaussian_process/acquisition/border_prior.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/metric_surrogate.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/encoded_trials.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/gaussian_process/bowl.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Key;
using testing::Log;
using testing::StatusIs;
using ::testing::UnorderedElementsAre;
using ::vernier::testing::Bowl;
using ::vernier::testing::Get;
using ::vernier::testing::Minimise;
using ::vernier::testing::Square;

std::unique_ptr<Optimizer> NewGp(const Space& space,
                                 Choice choice = {.name = "gp", .options = {}}) {
  return NewGpOptimizer(Minimise(space), choice).value();
}

std::vector<Observation> RandomTrials(const Space& space, int n) {
  Rng rng(3);
  std::vector<Observation> trials;
  for (int i = 1; i <= n; ++i) {
    const Point point = DecodePoint(space, std::vector<double>{rng.Uniform(), rng.Uniform()});
    trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {Bowl(point)}});
  }
  return trials;
}

TEST(GpOptimizer, RefusesMoreThanFourObjectives) {
  Problem problem = Minimise(Square());
  problem.objectives.resize(4, {.metric = "latency"});
  EXPECT_THAT(NewGpOptimizer(problem, {.name = "gp", .options = {}}), IsOk());
  problem.objectives.push_back({.metric = "cost"});
  const auto optimizer = NewGpOptimizer(problem, {.name = "gp", .options = {}});
  EXPECT_THAT(optimizer,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 4 metrics, got 5")));
  EXPECT_EQ(GetField(optimizer.status()), "objective");
}

TEST(GpOptimizer, RefusesOptionsOutOfBounds) {
  const auto optimizer = NewGpOptimizer(
      Minimise(Square()), {.name = "gp", .options = {{"initial_points", std::int64_t{0}}}});
  EXPECT_THAT(optimizer, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("initial_points")));
}

TEST(GpOptimizer, StartsAtTheDefaultPointThenSpreadsThenModels) {
  const Space space = Space::Create({{.name = "x", .domain = FloatDomain{}, .default_value = 0.3},
                                     {.name = "y", .domain = FloatDomain{}, .default_value = 0.9}})
                          .value();
  const auto optimizer = NewGp(space);
  std::vector<Observation> trials;
  std::string state;
  std::vector<std::string> origins;
  for (int i = 1; i <= 6; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(1).Fork(i), 1, {}));
    state = s.state;
    origins.push_back(s.points[0].origin);
    trials.push_back(
        {TrialNumber(i), s.points[0].point, Outcome::kCompleted, {Bowl(s.points[0].point)}});
  }
  EXPECT_THAT(origins,
              ::testing::ElementsAre("default point",
                                     "initial design",
                                     "initial design",
                                     "initial design",
                                     "initial design",
                                     "model"));
  EXPECT_EQ(Get(trials[0].point, "x"), 0.3);
}

TEST(GpOptimizer, WhatItRemembersChangesNothing) {
  const Space space = Square();
  const std::vector<Observation> trials = RandomTrials(space, 190);
  const TrialLog::View all = Log(space, trials);
  const auto remembering = NewGp(space);
  std::string state;
  for (std::size_t n = 150; n <= all.size(); n += n % 7 == 0 ? 1 : 3) {
    const TrialLog::View so_far = all.Prefix(n);
    const Rng stream = Rng(1).Fork(n);
    ASSERT_OK_AND_ASSIGN(const Suggestions a,
                         remembering->Suggest(so_far, {}, state, stream, 2, {}));
    ASSERT_OK_AND_ASSIGN(const Suggestions b,
                         NewGp(space)->Suggest(so_far, {}, state, stream, 2, {}));
    EXPECT_EQ(a.points[0].point, b.points[0].point);
    EXPECT_EQ(a.points[1].point, b.points[1].point);
    EXPECT_EQ(*a.points[0].acquisition, *b.points[0].acquisition);
    EXPECT_EQ(a.state, b.state);
    state = a.state;
  }
  // Other histories, of which what it remembers is no part: another log, and fewer trials of the same.
  const TrialLog::View others = Log(space, {trials.rbegin(), trials.rend()});
  for (const TrialLog::View& other : {others, all.Prefix(160)}) {
    ASSERT_OK_AND_ASSIGN(const Suggestions a,
                         remembering->Suggest(other, {}, state, Rng(2), 1, {}));
    ASSERT_OK_AND_ASSIGN(const Suggestions b,
                         NewGp(space)->Suggest(other, {}, state, Rng(2), 1, {}));
    EXPECT_EQ(a.points[0].point, b.points[0].point);
  }
}

TEST(GpOptimizer, PredictsInTheUsersUnits) {
  const Space space = Square();
  const std::vector<Observation> trials = RandomTrials(space, 25);
  const auto optimizer = NewGp(space);
  ASSERT_OK_AND_ASSIGN(const Suggestions s,
                       optimizer->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  const std::vector<Point> points = {
      trials[3].point, Point{{"x", 0.5}, {"y", 0.5}}, s.points[0].point};
  ASSERT_OK_AND_ASSIGN(const std::vector<PredictedPoint> at,
                       optimizer->Predict(Log(space, trials), s.state, points, {}));
  ASSERT_EQ(at.size(), 3u);
  EXPECT_NEAR(at[0].objective.mean, trials[3].values[0], 0.01);
  EXPECT_LT(at[0].objective.deviation, at[1].objective.deviation);
  EXPECT_NEAR(at[1].objective.mean, Bowl(points[1]), 0.05);
  // What the suggestion says of itself.
  EXPECT_NEAR(at[2].objective.mean, *s.points[0].predicted_mean, 1e-12);
  EXPECT_NEAR(at[2].objective.deviation, *s.points[0].predicted_deviation, 1e-12);

  const auto predict = [&](std::vector<Observation> known, const Point& point) {
    return optimizer->Predict(Log(space, known), "", std::vector<Point>{point}, {}).status();
  };
  EXPECT_THAT(predict({trials[0]}, points[1]),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("2 trials")));
  EXPECT_THAT(predict(trials, Point{{"x", 2.0}, {"y", 0.5}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
}

TEST(GpOptimizer, ChoosesTheWarpThatOrdersTheTrialsBest) {
  const Space space = Square();
  const auto warp_in_use = [&](const std::function<double(double)>& bend) {
    std::vector<Observation> trials = RandomTrials(space, 30);
    for (Observation& trial : trials) trial.values[0] = bend(trial.values[0]);
    const Suggestions s = NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}).value();
    return gp::ParseState(s.state, {.metrics = 1, .groups = 2, .coordinates = 2})
        .whole.metrics[0]
        .warp;
  };
  // A bowl seen through a logarithm, which makes a spike of its bottom: bending it back makes it a bowl again.
  EXPECT_EQ(warp_in_use([](double v) { return std::log(v + 1e-4); }), gp::Warp::kPower);
  // One trial so bad that a power of z-scores cannot tell the others apart.
  EXPECT_EQ(warp_in_use([](double v) { return v > 1.5 ? 1e30 : v; }), gp::Warp::kHalfRank);
}

TEST(GpOptimizer, LearnsMainEffectsFromFewTrials) {
  // Twelve switches, each with a gain or a loss of its own: 4096 points, of which the best is known after 20 trials.
  std::vector<Parameter> switches;
  for (int k = 0; k < 12; ++k) {
    switches.push_back({.name = "s" + std::to_string(k), .domain = BoolDomain{}});
  }
  const Space space = Space::Create(switches).value();
  const auto loss = [](const Point& point) {
    double sum = 0;
    for (int k = 0; k < 12; ++k) {
      const bool on = std::get<bool>(point.at("s" + std::to_string(k)));
      if (on != (k % 3 == 0)) sum += 1.0 + 0.1 * k;
    }
    return sum;
  };
  const auto optimizer = NewGp(space);
  std::vector<Observation> trials;
  std::string state;
  double best = 1e9;
  for (int i = 1; i <= 20; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(7).Fork(i), 1, {}));
    state = s.state;
    const double value = loss(s.points[0].point);
    best = std::min(best, value);
    trials.push_back({TrialNumber(i), s.points[0].point, Outcome::kCompleted, {value}});
  }
  EXPECT_EQ(best, 0.0);
}

TEST(BorderPrior, SlopesToTheMiddleAndFades) {
  const Space space = Space::Create({{.name = "x", .domain = FloatDomain{}},
                                     {.name = "n", .domain = IntDomain{.lower = 0, .upper = 9}},
                                     {.name = "b", .domain = BoolDomain{}}})
                          .value();
  const gp::CoordinateSpace coordinates(space);
  const gp::BorderPrior young(coordinates, 5);
  const gp::BorderPrior old(coordinates, 50);
  const std::vector<char> active = {1, 1, 1};
  const std::vector<double> corner = {1.0, 0.0, 0.25};
  EXPECT_NEAR(young.LogDensity(corner, active), -2.0, 1e-15);  // The switch has no border.
  EXPECT_NEAR(old.LogDensity(corner, active), -0.2, 1e-15);
  EXPECT_NEAR(young.LogDensity(corner, {1, 0, 1}), -1.0, 1e-15);
  EXPECT_EQ(young.LogDensity(std::vector<double>{0.5, 0.5, 0.75}, active), 0.0);
  const double step = 1e-6;
  const double difference = (young.LogDensity(std::vector<double>{0.8 + step, 0.5, 0.25}, active) -
                             young.LogDensity(std::vector<double>{0.8 - step, 0.5, 0.25}, active)) /
                            (2 * step);
  EXPECT_NEAR(young.Slope(0.8), difference, 1e-8);
}

TEST(GpOptimizer, ExplainsItsProposalInTheUsersUnits) {
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 20);
  for (Observation& trial : trials) trial.values[0] = 1000.0 + 50.0 * trial.values[0];
  ASSERT_OK_AND_ASSIGN(const Suggestions s,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  const Suggestion& suggestion = s.points[0];
  EXPECT_EQ(suggestion.origin, "model");
  EXPECT_TRUE(suggestion.acquisition.has_value());
  EXPECT_NEAR(suggestion.predicted_mean.value(), 1000.0 + 50.0 * Bowl(suggestion.point), 15.0);
  EXPECT_GT(suggestion.predicted_deviation.value(), 0.0);
  EXPECT_THAT(suggestion.importance, UnorderedElementsAre(Key("x"), Key("y")));
  EXPECT_NEAR(suggestion.importance.at("x") + suggestion.importance.at("y"), 1.0, 1e-12);
}

TEST(GpOptimizer, KeepsAwayFromPendingPoints) {
  const Space space = Square();
  const std::vector<Observation> trials = RandomTrials(space, 15);
  ASSERT_OK_AND_ASSIGN(const Suggestions first,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  const std::vector<PendingPoint> pending = {{TrialNumber(16), first.points[0].point}};
  ASSERT_OK_AND_ASSIGN(
      const Suggestions next,
      NewGp(space)->Suggest(Log(space, trials), pending, first.state, Rng(1), 1, {}));
  EXPECT_GT(std::hypot(Get(first.points[0].point, "x") - Get(next.points[0].point, "x"),
                       Get(first.points[0].point, "y") - Get(next.points[0].point, "y")),
            1e-3);
}

TEST(GpOptimizer, ABatchIsSpreadOut) {
  const Space space = Square();
  ASSERT_OK_AND_ASSIGN(
      const Suggestions s,
      NewGp(space)->Suggest(Log(space, RandomTrials(space, 15)), {}, "", Rng(1), 5, {}));
  ASSERT_EQ(s.points.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(std::hypot(Get(s.points[i].point, "x") - Get(s.points[j].point, "x"),
                           Get(s.points[i].point, "y") - Get(s.points[j].point, "y")),
                1e-4);
    }
  }
}

TEST(GpOptimizer, MinimisingEqualsMaximisingTheOpposite) {
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 12);
  ASSERT_OK_AND_ASSIGN(const Suggestions low,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  for (Observation& trial : trials) trial.values[0] = -trial.values[0];
  const Problem opposite{.space = space,
                         .objectives = {{.metric = "gain", .goal = Goal::kMaximize}}};
  const auto maximiser = NewGpOptimizer(opposite, {.name = "gp", .options = {}}).value();
  ASSERT_OK_AND_ASSIGN(const Suggestions high,
                       maximiser->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  EXPECT_EQ(low.points[0].point, high.points[0].point);
  EXPECT_EQ(*low.points[0].predicted_mean, -*high.points[0].predicted_mean);
}

TEST(GpOptimizer, ScalingTheObjectiveByAPowerOfTwoChangesNoBit) {
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 20);
  ASSERT_OK_AND_ASSIGN(const Suggestions a,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 2, {}));
  for (const double factor : {0x1p-900, 0.5, 0x1p+900}) {
    std::vector<Observation> scaled = trials;
    for (Observation& trial : scaled) trial.values[0] *= factor;
    ASSERT_OK_AND_ASSIGN(const Suggestions b,
                         NewGp(space)->Suggest(Log(space, scaled), {}, "", Rng(1), 2, {}));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(b.points[i].point, a.points[i].point);
      EXPECT_EQ(*b.points[i].acquisition, *a.points[i].acquisition);
      EXPECT_EQ(*b.points[i].predicted_mean, factor * *a.points[i].predicted_mean);
    }
    EXPECT_EQ(b.state, a.state);
  }
}

TEST(GpOptimizer, WhatItSaysIsFiniteWhateverTheValues) {
  constexpr double kHuge = 1.7e308;
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 40);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].values[0] = i % 3 == 0   ? -kHuge
                          : i % 3 == 1 ? kHuge
                                       : kHuge * trials[i].values[0] / 8;
  }
  for (const std::size_t n : {11, 15, 40}) {
    const std::vector<Observation> some(trials.begin(), trials.begin() + static_cast<int>(n));
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         NewGp(space)->Suggest(Log(space, some), {}, "", Rng(n), 4, {}));
    for (const Suggestion& suggestion : s.points) {
      EXPECT_TRUE(std::isfinite(suggestion.acquisition.value_or(0)));
      EXPECT_TRUE(std::isfinite(suggestion.predicted_mean.value_or(0)));
      EXPECT_TRUE(std::isfinite(suggestion.predicted_deviation.value_or(0)));
      EXPECT_TRUE(std::isfinite(suggestion.expected_improvement.value_or(0)));
    }
  }
}

TEST(GpOptimizer, LearnsWhereTrialsFail) {
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 40);
  for (Observation& trial : trials) {
    if (Get(trial.point, "x") > 0.6) trial = {trial.trial, trial.point, Outcome::kFailed, {}};
  }
  ASSERT_OK_AND_ASSIGN(const Suggestions s,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 3, {}));
  for (const Suggestion& suggestion : s.points) EXPECT_LT(Get(suggestion.point, "x"), 0.7);
}

// The least is out of reach behind the border; what the objective promises there must not lure the search across it, also
// when next to nothing is left to gain on this side.
TEST(GpOptimizer, LeavesAloneWhatFails) {
  const Space space = Square();
  const auto optimizer = NewGp(space);
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<Observation> trials;
    std::string state;
    int failed_late = 0;
    double best = 1e9;
    for (int i = 1; i <= 60; ++i) {
      ASSERT_OK_AND_ASSIGN(
          const Suggestions s,
          optimizer->Suggest(Log(space, trials), {}, state, Rng(seed).Fork(i), 1, {}));
      state = s.state;
      const Point& point = s.points[0].point;
      const double x = Get(point, "x");
      if (x > 0.4) {
        failed_late += i > 20 ? 1 : 0;
        trials.push_back({TrialNumber(i), point, Outcome::kFailed, {}});
        continue;
      }
      const double value = (x - 0.5) * (x - 0.5) + Get(point, "y");
      best = std::min(best, value);
      trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {value}});
    }
    EXPECT_LE(failed_late, 14) << seed;
    EXPECT_LT(best, 0.0105) << seed;  // At the border it is 0.01.
  }
}

// Failures by chance, half of all: the search goes on where the objective is good.
TEST(GpOptimizer, FailuresByChanceDoNotLeadItAstray) {
  const Space space = Square();
  const auto optimizer = NewGp(space);
  std::vector<Observation> trials;
  std::string state;
  double best = 1e9;
  Rng chance(5);
  for (int i = 1; i <= 60; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(1).Fork(i), 1, {}));
    state = s.state;
    const Point& point = s.points[0].point;
    if (chance.Uniform() < 0.5) {
      trials.push_back({TrialNumber(i), point, Outcome::kFailed, {}});
      continue;
    }
    best = std::min(best, Bowl(point));
    trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {Bowl(point)}});
  }
  EXPECT_LT(best, 1e-3);
}

TEST(GpOptimizer, SaysWhatItLacks) {
  const Space space = Square();
  std::vector<Observation> flat = RandomTrials(space, 24);
  for (Observation& trial : flat) trial.values[0] = 1e6;
  const auto optimizer = NewGp(space);
  ASSERT_OK_AND_ASSIGN(const Suggestions same,
                       optimizer->Suggest(Log(space, flat), {}, "", Rng(1), 1, {}));
  EXPECT_THAT(same.points[0].note, HasSubstr("all 24 values of loss are the same"));
  EXPECT_EQ(same.points[0].predicted_mean, 1e6);
  EXPECT_EQ(same.points[0].predicted_deviation, 0);
  EXPECT_EQ(same.points[0].expected_improvement, 0);
  flat.resize(12);
  EXPECT_EQ(
      optimizer->Suggest(Log(space, flat), {}, "", Rng(1), 1, {})->points[0].expected_improvement,
      std::nullopt);

  std::vector<Observation> trials = RandomTrials(space, 12);
  trials[3] = {trials[3].trial, trials[3].point, Outcome::kFailed, {}};
  EXPECT_THAT(optimizer->Suggest(Log(space, trials), {}, "", Rng(1), 1, {})->points[0].note,
              HasSubstr("1 failed trial counts as poor"));
  for (const int i : {5, 7}) trials[i] = {trials[i].trial, trials[i].point, Outcome::kFailed, {}};
  EXPECT_THAT(optimizer->Suggest(Log(space, trials), {}, "", Rng(1), 1, {})->points[0].note,
              HasSubstr("works with probability"));
  for (Observation& trial : trials) trial = {trial.trial, trial.point, Outcome::kFailed, {}};
  EXPECT_THAT(optimizer->Suggest(Log(space, trials), {}, "", Rng(1), 1, {})->points[0].note,
              HasSubstr("only 0 of 12 trials that ended have a value of every objective"));
}

// Of the whole cube, one in a million points.
TEST(GpOptimizer, TheModelChoosesInThinSlabs) {
  const Space space =
      Space::Create({{.name = "x", .domain = FloatDomain{}},
                     {.name = "y", .domain = FloatDomain{}},
                     {.name = "z", .domain = FloatDomain{}}},
                    {"x - y <= 5e-4 and y - x <= 5e-4", "x - z <= 5e-4 and z - x <= 5e-4"})
          .value();
  const auto optimizer = NewGp(space);
  std::vector<Observation> trials;
  std::string state;
  for (int i = 1; i <= 25; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(1).Fork(i), 1, {}));
    state = s.state;
    const Point& point = s.points[0].point;
    ASSERT_TRUE(space.Satisfies(point));
    if (i > 5) {
      EXPECT_EQ(s.points[0].origin, "model");
    }
    trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {Bowl(point)}});
  }
}

TEST(GpOptimizer, PredictsEveryObjectiveAndConstraint) {
  Problem problem = Minimise(Square());
  problem.objectives.push_back({.metric = "accuracy", .goal = Goal::kMaximize});
  problem.outcome_constraints = {"loss <= 1", "size <= 3"};
  std::vector<Observation> trials = RandomTrials(problem.space, 30);
  for (Observation& trial : trials) {
    trial.slacks = {1.0 - trial.values[0], std::nan("")};
    trial.values.push_back(100 * Get(trial.point, "x"));
  }
  const auto optimizer = NewGpOptimizer(problem, {.name = "gp", .options = {}}).value();
  const Point at = {{"x", 0.25}, {"y", 0.5}};
  ASSERT_OK_AND_ASSIGN(
      const std::vector<PredictedPoint> predicted,
      optimizer->Predict(TrialLog::Of(problem, trials).value(), "", std::vector{at}, {}));
  EXPECT_NEAR(predicted[0].objective.mean, Bowl(at), 0.05);
  ASSERT_THAT(predicted[0].others, UnorderedElementsAre(Key("accuracy"), Key("loss <= 1")));
  EXPECT_NEAR(predicted[0].others.at("accuracy").mean, 25, 2);
  EXPECT_NEAR(predicted[0].others.at("loss <= 1").mean, 1 - Bowl(at), 0.05);
  ASSERT_OK_AND_ASSIGN(
      const Suggestions s,
      optimizer->Suggest(TrialLog::Of(problem, trials).value(), {}, "", Rng(1), 1, {}));
  EXPECT_THAT(s.points[0].predicted_others,
              UnorderedElementsAre(Key("accuracy"), Key("loss <= 1")));
}

TEST(GpOptimizer, GoesOnWhenNothingButFailuresIsKnown) {
  const Space space = Square();
  std::vector<Observation> trials = RandomTrials(space, 10);
  for (Observation& trial : trials) trial.values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 2, {}), IsOk());
}

TEST(GpOptimizer, FollowsAConstraintToItsEdge) {
  const Space space = Square({"x + y <= 0.6"});
  const auto optimizer = NewGp(space);
  std::vector<Observation> trials;
  std::string state;
  double best = 1e9;
  for (int i = 1; i <= 25; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(1).Fork(i), 1, {}));
    ASSERT_TRUE(space.Satisfies(s.points[0].point));
    state = s.state;
    const double value = Bowl(s.points[0].point);
    best = std::min(best, value);
    trials.push_back({TrialNumber(i), s.points[0].point, Outcome::kCompleted, {value}});
  }
  // Least on the edge at x = 0.475, y = 0.125: 3/4 (0.3)^2.
  EXPECT_GE(best, 0.0675 - 1e-9);
  EXPECT_LT(best, 0.0685);
}

TEST(GpOptimizer, SaysWhenItLooksAtASubset) {
  const Space space = Square();
  const auto optimizer =
      NewGp(space, {.name = "gp", .options = {{"max_points", std::int64_t{30}}}});
  ASSERT_OK_AND_ASSIGN(
      const Suggestions s,
      optimizer->Suggest(Log(space, RandomTrials(space, 80)), {}, "", Rng(1), 1, {}));
  EXPECT_EQ(s.points[0].note, "the model looks at 18 of 80 trials");
  ASSERT_OK_AND_ASSIGN(
      const Suggestions next,
      optimizer->Suggest(Log(space, RandomTrials(space, 81)), {}, s.state, Rng(1), 1, {}));
  EXPECT_EQ(next.points[0].note,
            "looks near the best trial; the model looks at the 18 nearest of 81 trials");
}

TEST(GpOptimizer, AnUnreadableStateCountsAsEmpty) {
  const Space space = Square();
  const std::vector<Observation> trials = RandomTrials(space, 10);
  ASSERT_OK_AND_ASSIGN(const Suggestions a,
                       NewGp(space)->Suggest(Log(space, trials), {}, "", Rng(1), 1, {}));
  ASSERT_OK_AND_ASSIGN(const Suggestions b,
                       NewGp(space)->Suggest(Log(space, trials), {}, "{]", Rng(1), 1, {}));
  EXPECT_EQ(a.points[0].point, b.points[0].point);
  EXPECT_EQ(a.state, b.state);
}

TEST(GpOptimizer, IsCancelledBetweenStages) {
  std::stop_source source;
  source.request_stop();
  const Space space = Square();
  EXPECT_THAT(NewGp(space)->Suggest(
                  Log(space, RandomTrials(space, 10)), {}, "", Rng(1), 1, source.get_token()),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(MetricSurrogate, AStandardStartOfOneWarpLeavesTheOtherAsItWas) {
  const Problem problem = Minimise(Square());
  const gp::CoordinateSpace coordinates(problem.space);
  const gp::FeatureMap features(coordinates);
  gp::EncodedTrials history;
  gp::Update(coordinates, problem, Log(problem, RandomTrials(problem.space, 30)), history);
  const Eigen::MatrixXd rows = features.Matrix(history.points);
  gp::MetricState state;
  const auto fit = [&](Eigen::Index trials, const gp::StandardStartByWarp& besides) {
    const std::vector<double>& values = history.values.front();
    return gp::MetricSurrogate::Fit(features,
                                    rows.topRows(trials),
                                    {values.data(), static_cast<std::size_t>(trials)},
                                    {},
                                    {},
                                    {.standard_starts = besides},
                                    state,
                                    nullptr,
                                    {});
  };
  const auto at = [&state](std::size_t warp) { return state.by_warp[warp]->Pack(); };
  ASSERT_THAT(fit(20, {0, std::nullopt}), IsOk());  // Without an earlier optimum both are fitted.
  const auto first = at(0);
  const auto second = at(1);
  ASSERT_THAT(fit(25, {1, std::nullopt}), IsOk());
  EXPECT_NE(at(0), first);
  EXPECT_EQ(at(1), second);
  ASSERT_THAT(fit(30, {}), IsOk());
  EXPECT_NE(at(1), second);
}

// Against sums over random draws, through the warp and back.
TEST(ExpectedImprovement, IsWhatDrawsFromTheModelImproveOnAverage) {
  const Problem problem = Minimise(Square());
  const gp::CoordinateSpace coordinates(problem.space);
  const gp::FeatureMap features(coordinates);
  gp::EncodedTrials history;
  gp::Update(coordinates, problem, Log(problem, RandomTrials(problem.space, 12)), history);
  gp::ModelState state;
  state.metrics.resize(1);
  const gp::Surrogate surrogate =
      gp::Surrogate::Fit(features, {}, gp::TakeWhole(history, {.points = 100}), {}, state, {}, {})
          .value();
  const gp::MetricSurrogate& model = surrogate.objectives().front();
  const double best = model.scale().Backward(model.estimates().maxCoeff());
  Rng rng(8);
  for (const gp::Coordinates& u :
       {gp::Coordinates{0.65, 0.25}, gp::Coordinates{0.1, 0.9}, history.points[0]}) {
    const Eigen::RowVectorXd row = features.Matrix({u}).row(0);
    const gp::Prediction at = model.posterior().Predict(row).front();
    constexpr int kDraws = 400000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = model.scale().Backward(at.mean + std::sqrt(at.variance) * rng.Normal());
      const double improvement = std::max(value - best, 0.0);
      sum += improvement;
      squares += improvement * improvement;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt(squares) / kDraws;
    EXPECT_NEAR(surrogate.ExpectedImprovement(row).value(), mean, 5 * error + 1e-9);
  }
}

}  // namespace
}  // namespace vernier
