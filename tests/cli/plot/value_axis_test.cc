#include "src/cli/plot/value_axis.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::plot {
namespace {

const Objective kLoss = {.metric = "loss", .goal = Goal::kMinimize};
const Objective kScore = {.metric = "score", .goal = Goal::kMaximize};

TEST(ValueAxis, LeavesFarOutliersOutOnTheBadSideOnly) {
  const std::vector<double> values = {0.9, 1.0, 1.1, 1.2, 0.95, 1.3, 5000};
  const auto loss = ValueAxis::Create(values, kLoss, AxisMode::kAuto);
  ASSERT_TRUE(loss.ok());
  EXPECT_LT(loss->scale().high(), 2);
  EXPECT_TRUE(loss->IsOutlier(5000));
  EXPECT_FALSE(loss->IsOutlier(1.3));
  EXPECT_DOUBLE_EQ(loss->Place(5000), loss->scale().high());
  const auto score = ValueAxis::Create(values, kScore, AxisMode::kAuto);
  EXPECT_FALSE(score->IsOutlier(5000)) << "the best value is never an outlier";
}

TEST(ValueAxis, ShowsEverythingIfAsked) {
  const auto axis = ValueAxis::Create({1, 1, 1, 1, 1, 1e6}, kLoss, AxisMode::kFull);
  EXPECT_FALSE(axis->IsOutlier(1e6));
}

TEST(ValueAxis, IsLogarithmicWhereLossesSpanDecades) {
  const auto axis = ValueAxis::Create({0.01, 0.05, 0.2, 1, 4, 30, 90}, kLoss, AxisMode::kAuto);
  EXPECT_TRUE(axis->scale().is_log());
  EXPECT_FALSE(ValueAxis::Create({1, 2, 3, 4, 5}, kLoss, AxisMode::kAuto)->scale().is_log());
}

TEST(ValueAxis, RefusesALogarithmOfWhatHasNone) {
  const auto axis = ValueAxis::Create({-1, 2}, kLoss, AxisMode::kLog);
  EXPECT_EQ(axis.status().message(),
            "--axis: log needs values above 0, got -1; `--axis regret` shows any");
}

TEST(ValueAxis, ShowsTheDistanceToTheBest) {
  const auto axis = ValueAxis::Create({-3, -2.9, -2, 7}, kLoss, AxisMode::kRegret);
  EXPECT_NEAR(axis->Place(7), 10, 1e-12);
  EXPECT_DOUBLE_EQ(axis->Place(-3), axis->scale().low()) << "the best itself is at the border";
  EXPECT_EQ(axis->label(), "distance to the best loss");
}

TEST(ValueAxis, RanksLevelsFromTheWorstToTheBest) {
  for (const AxisMode mode :
       {AxisMode::kAuto, AxisMode::kFull, AxisMode::kLog, AxisMode::kRegret}) {
    const auto loss = ValueAxis::Create({1, 2, 3}, kLoss, mode);
    EXPECT_GT(loss->LevelOf(1), loss->LevelOf(2));
    EXPECT_GT(loss->LevelOf(2), loss->LevelOf(3));
    const auto score = ValueAxis::Create({1, 2, 3}, kScore, mode);
    EXPECT_LT(score->LevelOf(1), score->LevelOf(2));
    EXPECT_LT(score->LevelOf(2), score->LevelOf(3));
    EXPECT_NEAR(loss->LevelScale().Share(loss->Place(2)), loss->LevelOf(2), 1e-9);
  }
}

TEST(ValueAxis, StandsValuesThatAreNotFinite) {
  for (const AxisMode mode :
       {AxisMode::kAuto, AxisMode::kFull, AxisMode::kLog, AxisMode::kRegret}) {
    const auto axis = ValueAxis::Create({std::nan(""), INFINITY, -INFINITY}, kLoss, mode);
    ASSERT_TRUE(axis.ok());
    EXPECT_TRUE(std::isfinite(axis->scale().low()));
    EXPECT_TRUE(std::isfinite(ValueAxis::Create({4, INFINITY}, kLoss, mode)->scale().high()));
  }
}

}  // namespace
}  // namespace vernier::plot
