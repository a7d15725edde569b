#include "src/cli/terminal/figures.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

struct ElapsedCase {
  absl::Duration elapsed;
  std::string text;
};
class FormatElapsedTest : public ::testing::TestWithParam<ElapsedCase> {};
TEST_P(FormatElapsedTest, IsShort) {
  EXPECT_EQ(FormatElapsed(GetParam().elapsed), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(Table,
                         FormatElapsedTest,
                         ::testing::ValuesIn(std::vector<ElapsedCase>{
                             {absl::Seconds(-1), "0.0s"},
                             {absl::Milliseconds(3240), "3.2s"},
                             {absl::Milliseconds(9960), "10s"},
                             {absl::Milliseconds(59600), "1m00s"},
                             {absl::Seconds(62), "1m02s"},
                             {absl::Minutes(187), "3h07m"},
                             {absl::Hours(52), "2d04h"},
                             {absl::InfiniteDuration(), "inf"},
                         }));

TEST(FormatFigure, GivesSixDigits) {
  EXPECT_EQ(FormatFigure(0.97123456), "0.971235");
  EXPECT_EQ(FormatFigure(1e-5), "1e-05");
  EXPECT_EQ(FormatFigure(std::nan("")), "nan");
  EXPECT_EQ(FormatCompact(0.0031234), "0.00312");
  EXPECT_EQ(FormatCompact(0.98765), "0.988");
  EXPECT_EQ(FormatCompact(0.99), "0.99");
  EXPECT_EQ(FormatCompact(0.9999), "0.9999");
  EXPECT_EQ(FormatCompact(0.998765), "0.9988");
  EXPECT_EQ(FormatCompact(1 - 1e-16), "0.99999999999999989");
  EXPECT_EQ(FormatCompact(1), "1");
  EXPECT_EQ(FormatCompact(1.00001), "1");
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(std::int64_t{300} << 30), "300 GiB");
}

TEST(Sparkline, RisesWithTheValues) {
  EXPECT_EQ(Sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline(std::vector<double>{0, 7}, 8, false), "_#");
}
TEST(Sparkline, AveragesWhatDoesNotFit) {
  EXPECT_EQ(Sparkline(std::vector<double>{0, 2, 8, 10}, 2, true), "▁█");
}
TEST(Sparkline, IsFlatForAFlatCurve) {
  EXPECT_EQ(Sparkline(std::vector<double>{3, 3, 3}, 8, true), "▅▅▅");
}
TEST(Sparkline, LeavesABlankForNoNumber) {
  EXPECT_EQ(Sparkline(std::vector<double>{0, std::nan(""), 1}, 8, true), "▁ █");
  EXPECT_EQ(Sparkline({}, 8, true), "");
}

TEST(Sparkline, OfEachTrialIsOnTheScaleOfAll) {
  const std::vector<std::vector<double>> curves = {{0, 1, 2, 3}, {7, 7, 7, 7}};
  const auto scale = CommonScale(curves, 8);
  EXPECT_EQ(Sparkline(curves[0], 8, true, scale), "▁▂▃▄");
  EXPECT_EQ(Sparkline(curves[1], 8, true, scale), "████");
}
TEST(Sparkline, IsNotFlattenedByAFewValuesFarOut) {
  std::vector<std::vector<double>> curves(20, {0, 7});
  curves.push_back({1e12, -1e12});
  const auto scale = CommonScale(curves, 8);
  EXPECT_EQ(Sparkline(curves.front(), 8, true, scale), "▁█");
  EXPECT_EQ(Sparkline(curves.back(), 8, true, scale), "█▁");
}
TEST(Sparkline, HasNoScaleWithoutANumber) {
  const std::vector<std::vector<double>> curves = {{}, {std::nan("")}};
  EXPECT_FALSE(CommonScale(curves, 8).has_value());
  EXPECT_EQ(Sparkline(curves[1], 8, true, CommonScale(curves, 8)), " ");
}

TEST(FormatMoment, NamesTheZone) {
  const absl::Time time = absl::FromUnixSeconds(1'000'000'000);
  EXPECT_EQ(FormatMoment(time, absl::UTCTimeZone()), "2001-09-09T01:46:40+00:00");
  EXPECT_EQ(FormatMoment(time, absl::FixedTimeZone(-(3 * 60 + 30) * 60)),
            "2001-09-08T22:16:40-03:30");
}

TEST(ProgressBar, FillsByShare) {
  EXPECT_EQ(ProgressBar(1, 4, 8, true), "██░░░░░░");
  EXPECT_EQ(ProgressBar(9, 4, 4, false), "####");
  EXPECT_EQ(ProgressBar(1, 0, 4, false), "....");
}

}  // namespace
}  // namespace vernier::cli
