#include "src/cli/plot/scale.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::plot {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> Labels(const AxisScale& scale, int count) {
  std::vector<std::string> labels;
  for (const Tick& tick : scale.Ticks(count)) labels.push_back(tick.label);
  return labels;
}

TEST(AxisScale, TakesRoundNumbersForTicks) {
  EXPECT_THAT(Labels(AxisScale::Linear(0.13, 0.98), 5), ElementsAre("0.2", "0.4", "0.6", "0.8"));
  EXPECT_THAT(Labels(AxisScale::Linear(0, 1), 6),
              ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(Labels(AxisScale::Linear(-5, 5), 3), ElementsAre("-5", "0", "5"));
  EXPECT_THAT(Labels(AxisScale::Percent(0, 0.5), 6),
              ElementsAre("0%", "10%", "20%", "30%", "40%", "50%"));
}

TEST(AxisScale, TellsCloseValuesApart) {
  EXPECT_THAT(Labels(AxisScale::Linear(0.97001, 0.97003), 3),
              ElementsAre("0.97001", "0.97002", "0.97003"));
  EXPECT_THAT(Labels(AxisScale::Linear(1000000, 1000004), 3),
              ElementsAre("1000000", "1000002", "1000004"));
}

TEST(AxisScale, HasWholeTicksForNumbersOfTrials) {
  EXPECT_THAT(Labels(AxisScale::Whole(1, 3), 8), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Labels(AxisScale::Whole(1, 1000), 5), ElementsAre("500", "1000"));
  EXPECT_THAT(Labels(AxisScale::Whole(5.5, 0.5), 2), ElementsAre("5"));
  EXPECT_THAT(Labels(AxisScale::Whole(1.5, 0.5), 2), ElementsAre("1"));
}

TEST(AxisScale, HasPowersForALogarithmicAxis) {
  EXPECT_THAT(Labels(AxisScale::Log(1e-5, 0.1), 5),
              ElementsAre("1e-5", "1e-4", "0.001", "0.01", "0.1"));
  EXPECT_THAT(Labels(AxisScale::Log(8, 128), 8), ElementsAre("10", "20", "50", "100"));
  EXPECT_NEAR(AxisScale::Log(1e-4, 1).Share(1e-2), 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(AxisScale::Log(1, 10).Share(0)));
}

TEST(AxisScale, SpreadsNinesEvenlyOnAReverseLogarithmicAxis) {
  const AxisScale scale = AxisScale::ReverseLog(0.9, 0.999);
  EXPECT_NEAR(scale.Share(0.9), 0, 1e-9);
  EXPECT_NEAR(scale.Share(0.999), 1, 1e-9);
  EXPECT_GT(scale.Share(0.99), 0);
  for (const double share : {0.0, 0.3, 0.7, 1.0}) {
    EXPECT_NEAR(scale.Share(scale.At(share)), share, 1e-9);
  }
}

TEST(AxisScale, SpeaksOfTimeInItsUnits) {
  EXPECT_THAT(Labels(AxisScale::Elapsed(0, 200), 5), ElementsAre("0s", "1m", "2m", "3m"));
  EXPECT_THAT(Labels(AxisScale::Elapsed(0, 7200), 5), ElementsAre("0s", "30m", "1h", "1.5h", "2h"));
  EXPECT_THAT(Labels(AxisScale::Elapsed(0, 0.4), 3), ElementsAre("0s", "200ms", "400ms"));
}

TEST(AxisScale, RunsDownwardsToo) {
  const AxisScale scale = AxisScale::Whole(4.5, 0.5);
  EXPECT_DOUBLE_EQ(scale.Share(4.5), 0);
  EXPECT_DOUBLE_EQ(scale.Share(0.5), 1);
  EXPECT_THAT(scale.Ticks(6), SizeIs(4));
  EXPECT_NEAR(AxisScale::Log(100, 1).Share(1), 1, 1e-12);
}

TEST(AxisScale, HasAColumnForEachCategory) {
  const AxisScale scale = AxisScale::Category({"sgd", "adam"});
  EXPECT_DOUBLE_EQ(scale.Share(0), 0.25);
  EXPECT_DOUBLE_EQ(scale.Share(1), 0.75);
  EXPECT_THAT(Labels(scale, 2), ElementsAre("sgd", "adam"));
}

// Whatever the ends are, ticks are finite, lie on the axis and are not too many.
TEST(AxisScale, StandsEveryRange) {
  const double huge = std::numeric_limits<double>::max();
  const std::vector<std::pair<double, double>> ranges = {
      {0, 0},
      {3, 3},
      {-2, -2},
      {1e-300, 2e-300},
      {-huge, huge},
      {1, 1 + 1e-15},
      {std::nan(""), 1},
      {-std::numeric_limits<double>::infinity(), 0},
      {1e308, 1.1e308}};
  for (const auto& [from, to] : ranges) {
    for (const AxisScale& scale : {AxisScale::Linear(from, to),
                                   AxisScale::Whole(from, to),
                                   AxisScale::Percent(from, to),
                                   AxisScale::Elapsed(from, to)}) {
      const std::vector<Tick> ticks = scale.Ticks(6);
      EXPECT_LE(ticks.size(), 20U) << from << " " << to;
      for (const Tick& tick : ticks) {
        EXPECT_TRUE(std::isfinite(tick.value));
        EXPECT_GE(scale.Share(tick.value), -1e-6);
        EXPECT_LE(scale.Share(tick.value), 1 + 1e-6);
      }
    }
  }
  for (const auto& [from, to] : std::vector<std::pair<double, double>>{
           {1e-300, 1e300}, {5, 5}, {0.999, 1.001}, {1e-12, 1}}) {
    const std::vector<Tick> ticks = AxisScale::Log(from, to).Ticks(6);
    EXPECT_THAT(ticks, ::testing::Not(::testing::IsEmpty())) << from;
    EXPECT_LE(ticks.size(), 20U) << from;
  }
}

}  // namespace
}  // namespace vernier::plot
