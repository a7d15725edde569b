#include "src/core/optimal_trials.h"

#include <algorithm>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::vernier::testing::kNan;

const Objective kAccuracy = {.metric = "accuracy", .goal = Goal::kMaximize};
const Objective kLatency = {.metric = "latency_ms", .goal = Goal::kMinimize};

struct Told {
  std::vector<double> values;
  std::vector<double> slacks;
};

std::vector<std::int64_t> Numbers(const std::vector<TrialNumber>& trials) {
  std::vector<std::int64_t> numbers;
  for (const TrialNumber trial : trials) numbers.push_back(trial.value());
  return numbers;
}

// Trial n is the n-th one, told in that order.
OptimalTrials Tell(std::vector<Objective> objectives, const std::vector<Told>& trials) {
  OptimalTrials optimal(std::move(objectives));
  std::int64_t number = 0;
  for (const Told& trial : trials) {
    optimal.Tell(TrialNumber(++number), trial.values, trial.slacks);
  }
  return optimal;
}

TEST(OptimalTrials, ThereIsNoneBeforeTheFirst) {
  const OptimalTrials none({kAccuracy});
  EXPECT_EQ(none.best(), std::nullopt);
  EXPECT_THAT(none.optimal(), IsEmpty());
}

TEST(OptimalTrials, OfOneObjectiveItIsTheBestAndOfTiesTheEarlier) {
  const OptimalTrials accuracy = Tell({kAccuracy}, {{{0.5}}, {{0.9}}, {{0.9}}, {{0.7}}});
  EXPECT_EQ(accuracy.best(), TrialNumber(2));
  EXPECT_THAT(Numbers(accuracy.optimal()), ElementsAre(2));
  const OptimalTrials latency = Tell({kLatency}, {{{5}}, {{3}}, {{4}}});
  EXPECT_EQ(latency.best(), TrialNumber(2));
}

TEST(OptimalTrials, ATieGoesToTheEarlierThatEndedLater) {
  OptimalTrials optimal({kAccuracy});
  optimal.Tell(TrialNumber(3), std::vector{0.5}, {});
  optimal.Tell(TrialNumber(1), std::vector{0.5}, {});
  EXPECT_THAT(Numbers(optimal.optimal()), ElementsAre(1));
}

TEST(OptimalTrials, WithoutAnObjectiveItIsTheFirst) {
  EXPECT_THAT(Numbers(Tell({}, {{{}}, {{}}, {{}}}).optimal()), ElementsAre(1));
  StudySpec spec;
  EXPECT_FALSE(HasBest(spec));
  spec.job.emplace();
  EXPECT_TRUE(HasBest(spec));
}

TEST(OptimalTrials, OfSeveralObjectivesTheyAreThoseThatNoneDominates) {
  const OptimalTrials optimal =
      Tell({kAccuracy, kLatency}, {{{0.9, 30}}, {{0.8, 10}}, {{0.8, 20}}, {{0.7, 5}}, {{0.9, 30}}});
  EXPECT_THAT(Numbers(optimal.optimal()), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(optimal.best(), TrialNumber(1));
}

TEST(OptimalTrials, ATieInTheFirstObjectiveGoesToTheBetterByTheNext) {
  const OptimalTrials optimal = Tell({kAccuracy, kLatency}, {{{0.9, 30}}, {{0.9, 20}}});
  EXPECT_EQ(optimal.best(), TrialNumber(2));
  EXPECT_THAT(Numbers(optimal.optimal()), ElementsAre(2));
}

TEST(OptimalTrials, WhatBreaksAConstraintOrMayDoSoDoesNotCount) {
  const OptimalTrials optimal =
      Tell({kAccuracy},
           {{{0.5}, {0.0, 1.0}}, {{0.9}, {1.0, -0.1}}, {{0.8}, {kNan, 1.0}}, {{0.4}, {1.0, 1.0}}});
  EXPECT_EQ(optimal.best(), TrialNumber(1));
}

TEST(OptimalTrials, WhatHasNoNumberForAnObjectiveDoesNotCount) {
  const OptimalTrials optimal =
      Tell({kAccuracy, kLatency}, {{{0.9, kNan}}, {{kNan, 1}}, {{0.5, 10}}});
  EXPECT_THAT(Numbers(optimal.optimal()), ElementsAre(3));
  EXPECT_EQ(optimal.best(), TrialNumber(3));
}

TEST(OptimalTrials, TheOrderInWhichTrialsEndedChangesNothing) {
  Rng rng(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<double>> values(12);
    for (auto& value : values) {
      value = {static_cast<double>(rng.UniformInt(5)), static_cast<double>(rng.UniformInt(5))};
    }
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto tell = [&] {
      OptimalTrials optimal({kAccuracy, kLatency});
      for (const std::size_t i : order) {
        optimal.Tell(TrialNumber(static_cast<std::int64_t>(i) + 1), values[i], {});
      }
      return optimal;
    };
    const OptimalTrials forwards = tell();
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[rng.UniformInt(i)]);
    const OptimalTrials shuffled = tell();
    EXPECT_EQ(forwards.optimal(), shuffled.optimal());
    EXPECT_EQ(forwards.best(), shuffled.best());
    const auto optimal = forwards.optimal();
    EXPECT_TRUE(std::binary_search(optimal.begin(), optimal.end(), *forwards.best()));
  }
}

}  // namespace
}  // namespace vernier
