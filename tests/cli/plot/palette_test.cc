#include "src/cli/plot/palette.h"

#include <cmath>

#include "gtest/gtest.h"

namespace vernier::plot {
namespace {

// Relative luminance, as the Web Content Accessibility Guidelines define it.
double Luminance(Rgb color) {
  const auto linear = [](double byte) {
    const double share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}
double Contrast(Rgb a, Rgb b) {
  const double low = std::min(Luminance(a), Luminance(b));
  const double high = std::max(Luminance(a), Luminance(b));
  return (high + 0.05) / (low + 0.05);
}

constexpr Rgb kPaper = {255, 255, 255};
constexpr Rgb kScreen = {0x16, 0x19, 0x1d};

TEST(Palette, RampChangesLightnessInOneDirection) {
  for (int step = 1; step < kRampSteps; ++step) {
    EXPECT_LT(Luminance(RampColor(step, false)), Luminance(RampColor(step - 1, false))) << step;
    EXPECT_GT(Luminance(RampColor(step, true)), Luminance(RampColor(step - 1, true))) << step;
  }
}

TEST(Palette, TheBestStandsOutMost) {
  EXPECT_GT(Contrast(RampColor(kRampSteps - 1, false), kPaper), 7);
  EXPECT_GT(Contrast(RampColor(kRampSteps - 1, true), kScreen), 7);
}

TEST(Palette, TextIsReadable) {
  for (const Ink ink : {Ink::kText, Ink::kMuted}) {
    EXPECT_GT(Contrast(ColorOf(ink, false), kPaper), 4.5);
    EXPECT_GT(Contrast(ColorOf(ink, true), kScreen), 4.5);
  }
}

TEST(Palette, LevelsOutsideAreTheNearestStep) {
  EXPECT_EQ(RampStep(-1), 0);
  EXPECT_EQ(RampStep(std::nan("")), 0);
  EXPECT_EQ(RampStep(1), kRampSteps - 1);
  EXPECT_EQ(RampStep(7), kRampSteps - 1);
}

}  // namespace
}  // namespace vernier::plot
