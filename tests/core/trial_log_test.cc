#include "vernier/trial_log.h"

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/cells.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using testing::IsOk;
using testing::StatusIs;

Space Mixed() {
  return testing::MakeSpace({testing::Float("x", -1, 1),
                             testing::Float("lr", 1e-6, 1, Scale::kLog),
                             testing::Stepped("s", 0, 1, 0.1),
                             testing::Int("n", -5, 5),
                             testing::Int("wide",
                                          std::numeric_limits<std::int64_t>::min() / 2,
                                          std::numeric_limits<std::int64_t>::max() / 2),
                             testing::Discrete("d", {1, 2.5}),
                             testing::Categorical("c", {"a", std::int64_t{2}, 3.5}),
                             testing::Bool("b"),
                             testing::When(testing::Float("y", 0, 1), "b", {true})});
}

Problem TwoObjectives() {
  return {.space = Mixed(),
          .objectives = {{.metric = "a"}, {.metric = "b"}},
          .outcome_constraints = {"c <= 1"}};
}

TEST(Cells, HoldPointsExactly) {
  const Space space = Mixed();
  Rng rng(1);
  std::vector<Cell> cells(space.parameters().size());
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> u(cells.size());
    for (double& coordinate : u) coordinate = rng.Uniform();
    const Point point = DecodePoint(space, u);
    WriteCells(space, point, cells);
    EXPECT_EQ(ReadCells(space, cells), point);
  }
}

TEST(Cells, AreEqualWhereValuesAre) {
  const Space space = testing::MakeSpace({testing::Float("x", -1, 1)});
  Cell zero = 1;
  Cell minus_zero = 2;
  WriteCells(space, Point{{"x", 0.0}}, {&zero, 1});
  WriteCells(space, Point{{"x", -0.0}}, {&minus_zero, 1});
  EXPECT_EQ(zero, minus_zero);
  EXPECT_NE(zero, kInactive);
}

Point SomePoint(const Space& space, Rng& rng) {
  std::vector<double> u(space.parameters().size());
  for (double& coordinate : u) coordinate = rng.Uniform();
  return DecodePoint(space, u);
}

TEST(TrialLog, GivesBackWhatItWasTold) {
  const Problem problem = TwoObjectives();
  TrialLog log(problem);
  Rng rng(2);
  std::vector<Observation> told;
  for (std::int64_t i = 1; i <= 3000; ++i) {  // Over several chunks.
    Observation trial{.trial = TrialNumber(7 * i), .point = SomePoint(problem.space, rng)};
    if (i % 5 == 0) {
      trial.outcome = i % 2 == 0 ? Outcome::kFailed : Outcome::kInfeasible;
    } else {
      trial.outcome = i % 3 == 0 ? Outcome::kStoppedEarly : Outcome::kCompleted;
      trial.values = {rng.Normal(), static_cast<double>(i)};
      trial.slacks = {rng.Normal()};
      if (trial.outcome == Outcome::kStoppedEarly && i % 2 == 0) {
        trial.expected_end = ExpectedEnd{.mean = rng.Normal(), .deviation = 0.5};
      }
    }
    ASSERT_THAT(log.Append(trial), IsOk());
    told.push_back(std::move(trial));
  }
  const TrialLog::View view = log.Snapshot();
  ASSERT_EQ(view.size(), told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    const Observation trial = view[i];
    EXPECT_EQ(trial.trial, told[i].trial);
    EXPECT_EQ(trial.point, told[i].point);
    EXPECT_EQ(trial.outcome, told[i].outcome);
    EXPECT_EQ(trial.values, told[i].values);
    EXPECT_EQ(trial.slacks, told[i].slacks);
    EXPECT_EQ(trial.expected_end, told[i].expected_end);
  }
}

TEST(TrialLog, WhatIsMissingIsNotANumber) {
  const Problem problem = TwoObjectives();
  Rng rng(3);
  const TrialLog::View view =
      TrialLog::Of(
          problem,
          {{.trial = TrialNumber(1), .point = SomePoint(problem.space, rng), .values = {1, 2}},
           {.trial = TrialNumber(2),
            .point = SomePoint(problem.space, rng),
            .outcome = Outcome::kFailed}})
          .value();
  EXPECT_THAT(view.values(0), ElementsAre(1, 2));
  EXPECT_THAT(view.slacks(0), ElementsAre(IsNan()));
  EXPECT_THAT(view.values(1), ElementsAre(IsNan(), IsNan()));
  EXPECT_THAT(view[1].values, IsEmpty());
}

TEST(TrialLog, RefusesWhatDoesNotFitTheProblem) {
  const Problem problem = TwoObjectives();
  TrialLog log(problem);
  Rng rng(4);
  const auto append = [&](const auto& change) {
    Observation trial{.trial = TrialNumber(9),
                      .point = SomePoint(problem.space, rng),
                      .values = {1, 2},
                      .slacks = {3}};
    change(trial);
    return log.Append(trial);
  };
  using Trial = Observation;
  EXPECT_THAT(
      append([](Trial& trial) { trial.point["x"] = 2.0; }),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("trial 9 lies outside the space: point.x: must be at most 1, got 2")));
  EXPECT_THAT(append([](Trial& trial) { trial.point.erase("n"); }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("n: ")));
  EXPECT_THAT(append([](Trial& trial) { trial.values.pop_back(); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trial 9: values: needs one for each of 2 objectives, got 1"));
  EXPECT_THAT(append([](Trial& trial) { trial.slacks.push_back(1); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "trial 9: slacks: needs one for each of 1 outcome constraints, got 2"));
  EXPECT_EQ(log.size(), 0u);
}

TEST(TrialLog, SnapshotsStayAsTheyAre) {
  const Problem problem = TwoObjectives();
  TrialLog log(problem);
  TrialLog other(problem);
  Rng rng(5);
  const auto append = [&](TrialLog& to) {
    ASSERT_THAT(to.Append({.trial = TrialNumber(1),
                           .point = SomePoint(problem.space, rng),
                           .values = {1, 2},
                           .slacks = {3}}),
                IsOk());
  };
  append(log);
  append(other);
  const TrialLog::View early = log.Snapshot();
  for (int i = 0; i < 1000; ++i) append(log);
  const TrialLog::View late = log.Snapshot();
  EXPECT_EQ(early.size(), 1u);
  EXPECT_TRUE(late.Continues(early));
  EXPECT_FALSE(early.Continues(late));
  EXPECT_FALSE(other.Snapshot().Continues(early));
  EXPECT_TRUE(early.Continues(late.Prefix(1)));
  EXPECT_EQ(early[0].point, late[0].point);
}

TEST(TrialLog, IsReadWhileItGrows) {
  const Problem problem = TwoObjectives();
  TrialLog log(problem);
  Rng rng(6);
  const Point point = SomePoint(problem.space, rng);
  for (std::int64_t i = 0; i < 200; ++i) {
    ASSERT_THAT(log.Append({.trial = TrialNumber(i), .point = point}), IsOk());
  }
  const TrialLog::View view = log.Snapshot();
  std::thread reader([&view] {
    std::int64_t sum = 0;
    for (int round = 0; round < 50; ++round) {
      for (std::size_t i = 0; i < view.size(); ++i) sum += view.trial(i).value();
    }
    EXPECT_EQ(sum, 50 * 199 * 100);
  });
  for (std::int64_t i = 0; i < 2000; ++i) {
    ASSERT_THAT(log.Append({.trial = TrialNumber(i), .point = point}), IsOk());
  }
  reader.join();
}

}  // namespace
}  // namespace vernier
