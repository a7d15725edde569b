#include "algorithms/gaussian_process/search/basins.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier {
namespace {

using gp::Basin;
using ::testing::ElementsAre;

Eigen::MatrixXd Column(const std::vector<double>& places) {
  return Eigen::Map<const Eigen::VectorXd>(places.data(), static_cast<Eigen::Index>(places.size()));
}

TEST(FindBasins, FollowsStepsToTheNearestBetterTrial) {
  // Two hills, at 0.1 and 0.9. The trial at 0.35 is nearer to the left one, by way of 0.2.
  const std::vector<Basin> basins =
      gp::FindBasins(Column({0.9, 0.2, 0.1, 0.8, 0.35}), std::vector{5.0, 6.0, 7.0, 4.0, 1.0}, 0.2);
  ASSERT_EQ(basins.size(), 2U);
  EXPECT_EQ(basins[0].best, 2U);
  EXPECT_THAT(basins[0].trials, ElementsAre(1, 2, 4));
  EXPECT_EQ(basins[1].best, 0U);
  EXPECT_THAT(basins[1].trials, ElementsAre(0, 3));
}

TEST(FindBasins, OfEqualTrialsTheFirstIsTheBest) {
  const std::vector<Basin> basins =
      gp::FindBasins(Column({0.5, 0.5, 0.4}), std::vector{1.0, 1.0, 1.0}, 0.2);
  ASSERT_EQ(basins.size(), 1U);
  EXPECT_EQ(basins[0].best, 0U);
  EXPECT_THAT(basins[0].trials, ElementsAre(0, 1, 2));
}

TEST(FindBasins, HasNoneWithoutTrials) {
  EXPECT_TRUE(gp::FindBasins(Eigen::MatrixXd(0, 1), {}, 0.2).empty());
}

// One parameter: eleven trials without a gain spend a basin. Values fall from the best at 0.1 and from the next at 0.8.
class BasinDueTest : public ::testing::Test {
 protected:
  void Add(double place, double value) {
    places_.push_back(place);
    values_.push_back(value);
  }
  std::optional<Basin> Due() const { return gp::BasinDue(Column(places_), values_, 1); }

  std::vector<double> places_ = {0.8, 0.7, 0.45, 0.1};
  std::vector<double> values_ = {8.0, 7.0, 1.0, 10.0};
};

TEST_F(BasinDueTest, IsTheNextBestOnceTheBestIsSpent) {
  for (int i = 0; i < 10; ++i) Add(0.1 + 0.001 * i, 9.0);
  EXPECT_FALSE(Due().has_value());
  Add(0.12, 9.0);
  ASSERT_TRUE(Due().has_value());
  EXPECT_EQ(Due()->best, 0U);
  EXPECT_THAT(Due()->trials, ElementsAre(0, 1));
}

TEST_F(BasinDueTest, IsNotDueWhileTheBestGains) {
  for (int i = 0; i < 20; ++i) Add(0.1 + 0.001 * i, 10.0 + 0.1 * i);
  EXPECT_FALSE(Due().has_value());
}

TEST_F(BasinDueTest, DoesNotCountGainsTooSmallToMatter) {
  for (int i = 0; i < 6; ++i) Add(0.45, 1.0);
  for (int i = 0; i < 20; ++i) Add(0.1 + 0.001 * i, 10.0 + 1e-6 * i);
  EXPECT_TRUE(Due().has_value());
}

TEST_F(BasinDueTest, IsThatOfTheNewBestOnceItIsBetter) {
  for (int i = 0; i < 11; ++i) Add(0.1 + 0.001 * i, 9.0);
  Add(0.82, 12.0);
  EXPECT_FALSE(Due().has_value());  // The best is in the other basin now, which is not spent.
}

TEST_F(BasinDueTest, IsNoneOnceAllAreSpent) {
  places_ = {0.1};
  values_ = {1.0};
  for (int i = 0; i < 30; ++i) Add(0.1, 0.5);
  EXPECT_FALSE(Due().has_value());
}

}  // namespace
}  // namespace vernier
