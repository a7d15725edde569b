#include "src/study/curve_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"
#include "vernier/core/rng.h"

namespace vernier::study {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::vernier::testing::kNan;

TEST(ChooseExtremes, KeepsAllOfAShortCurve) {
  const std::vector<double> values = {3, 1, 2, 5};
  EXPECT_THAT(ChooseExtremes(values, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ChooseExtremes({}, 4), IsEmpty());
}

TEST(ChooseExtremes, KeepsEndsAndTheExtremesBetween) {
  const std::vector<double> values = {5, 5, 9, 5, -1, 5, 5};
  EXPECT_THAT(ChooseExtremes(values, 4), ElementsAre(0, 2, 4, 6));
}

TEST(ChooseExtremes, ShowsAPartWithoutNumbersByItsFirstValue) {
  const std::vector<double> values = {1, kNan, kNan, 2, kNan, 3, 1};
  // Parts of 2 and 3: {NaN, NaN} and {2, NaN, 3}.
  EXPECT_THAT(ChooseExtremes(values, 6), ElementsAre(0, 1, 3, 5, 6));
}

TEST(ChooseExtremes, TakesInfinitiesForExtremes) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(ChooseExtremes(std::vector<double>{0, 1, inf, 3, -inf, 5, 0}, 4),
              ElementsAre(0, 2, 4, 6));
}

TEST(ChooseExtremes, OfAnyCurveKeepsBoundsOrderAndTheExtremesOfTheWhole) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(5 + rng.UniformInt(3000));
    for (double& value : values) value = rng.Uniform();
    const std::size_t most = 4 + rng.UniformInt(200);
    const std::vector<std::size_t> chosen = ChooseExtremes(values, most);
    ASSERT_LE(chosen.size(), std::max(most, std::size_t{4})) << "round " << round;
    ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    ASSERT_TRUE(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
    ASSERT_EQ(chosen.front(), 0);
    ASSERT_EQ(chosen.back(), values.size() - 1);
    const auto has = [&](auto at) {
      return std::ranges::binary_search(chosen, static_cast<std::size_t>(at - values.begin()));
    };
    ASSERT_TRUE(has(std::ranges::min_element(values)));
    ASSERT_TRUE(has(std::ranges::max_element(values)));
  }
}

TEST(CurveIndex, ChoosesByMetric) {
  CurveIndex index;
  index.Add(EventSeq(10), {{"acc", 0.1}, {"loss", 2}});
  index.Add(EventSeq(11), {{"loss", 9}});
  index.Add(EventSeq(13), {{"acc", 0.3}});
  EXPECT_EQ(index.Count(""), 3);
  EXPECT_EQ(index.Count("acc"), 2);
  EXPECT_EQ(index.Count("nothing"), 0);
  EXPECT_THAT(index.Choose("", "acc", 0), ElementsAre(EventSeq(10), EventSeq(11), EventSeq(13)));
  EXPECT_THAT(index.Choose("acc", "acc", 0), ElementsAre(EventSeq(10), EventSeq(13)));
  EXPECT_THAT(index.Choose("loss", "acc", 4), ElementsAre(EventSeq(10), EventSeq(11)));
  EXPECT_THAT(index.Choose("nothing", "acc", 4), IsEmpty());
}

TEST(CurveIndex, OfAllMeasurementsChoosesTheExtremesOfTheObjective) {
  CurveIndex index;
  for (int i = 1; i <= 100; ++i) {
    index.Add(EventSeq(i), {{"acc", i == 40 ? 7.0 : 0.5}, {"loss", i == 60 ? 7.0 : 0.5}});
  }
  const auto chosen = index.Choose("", "acc", 10);
  EXPECT_LE(chosen.size(), 10);
  EXPECT_TRUE(std::ranges::count(chosen, EventSeq(40)) == 1);
  EXPECT_TRUE(std::ranges::count(index.Choose("loss", "acc", 10), EventSeq(60)) == 1);
}

}  // namespace
}  // namespace vernier::study
