#include "src/core/pareto.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::vernier::testing::kInf;
using ::vernier::testing::kNan;

using Points = std::vector<std::vector<double>>;
using Flags = std::vector<bool>;

// From the definition: every point against every other.
Flags DominatedByDefinition(const Points& points) {
  Flags dominated;
  for (const std::vector<double>& point : points) {
    bool is_dominated = false;
    for (const std::vector<double>& rival : points) {
      is_dominated = is_dominated || Dominates(rival, point);
    }
    dominated.push_back(is_dominated);
  }
  return dominated;
}

TEST(Pareto, APointDominatesIfNoWorseAnywhereAndBetterSomewhere) {
  EXPECT_TRUE(Dominates(std::vector{1.0, 2.0}, std::vector{1.0, 1.0}));
  EXPECT_FALSE(Dominates(std::vector{1.0, 1.0}, std::vector{1.0, 1.0}));
  EXPECT_FALSE(Dominates(std::vector{2.0, 0.0}, std::vector{1.0, 1.0}));
}

TEST(Pareto, NaNIsWorseThanEverythingAndEqualToItself) {
  EXPECT_TRUE(Dominates(std::vector{-kInf}, std::vector{kNan}));
  EXPECT_FALSE(Dominates(std::vector{kNan}, std::vector{-kInf}));
  EXPECT_FALSE(Dominates(std::vector{kNan}, std::vector{kNan}));
}

TEST(Pareto, NothingIsDominatedInNothing) { EXPECT_EQ(Dominated({}), Flags()); }

TEST(Pareto, OfOneCoordinateTheLargestAreLeft) {
  EXPECT_EQ(Dominated(Points{{1}, {3}, {2}, {3}}), (Flags{true, false, true, false}));
}

TEST(Pareto, OfTwoCoordinatesTheStaircaseIsLeft) {
  EXPECT_EQ(Dominated(Points{{1, 3}, {2, 2}, {3, 1}, {1, 2}, {2, 1}, {3, 1}, {0, 3}}),
            (Flags{false, false, false, true, true, false, true}));
}

TEST(Pareto, InfinitiesAreValues) {
  EXPECT_EQ(Dominated(Points{{kInf, 0}, {1, 1}, {kInf, 1}, {2, -kInf}}),
            (Flags{true, true, false, true}));
}

class ParetoOfRandomPoints : public ::testing::TestWithParam<std::size_t> {};

// A coarse grid, so that points are equal, and equal in some coordinates, often.
double RandomCoordinate(Rng& rng) {
  const std::uint64_t drawn = rng.UniformInt(12);
  if (drawn == 0) return kNan;
  if (drawn == 1) return -kInf;
  return static_cast<double>(drawn);
}

TEST_P(ParetoOfRandomPoints, IsWhatTheDefinitionSays) {
  Rng rng(GetParam());
  for (int round = 0; round < 100; ++round) {
    Points points(rng.UniformInt(40), std::vector<double>(GetParam()));
    for (std::vector<double>& point : points) {
      for (double& x : point) x = RandomCoordinate(rng);
    }
    EXPECT_EQ(Dominated(points), DominatedByDefinition(points));
  }
}

INSTANTIATE_TEST_SUITE_P(Coordinates, ParetoOfRandomPoints, ::testing::Values(1, 2, 3, 4));

// Quadratic comparisons of this many points would take minutes.
TEST(Pareto, ManyPointsOfTwoCoordinatesAreQuick) {
  constexpr int kPoints = 200'000;
  Points points;
  points.reserve(kPoints);
  for (int i = 0; i < kPoints; ++i)
    points.push_back({static_cast<double>(i), static_cast<double>(-i)});
  EXPECT_EQ(Dominated(points), Flags(kPoints, false));
}

}  // namespace
}  // namespace vernier
