#include "src/cli/terminal/canvas.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;

TEST(NiceTicks, AreRoundAndSpanTheRange) {
  EXPECT_THAT(NiceTicks(0.3, 4.1, 5), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(NiceTicks(0, 100, 5), ElementsAre(0, 50, 100));
  EXPECT_THAT(NiceTicks({100, 0, 30}, 5), ElementsAre(0, 50, 100));
  const std::vector<double> one = NiceTicks(0.5, 0.5, 5);
  EXPECT_LT(one.front(), 0.5);
  EXPECT_GT(one.back(), 0.5);
}

TEST(ShareOf, IsOneAtTheLastTick) {
  const std::vector<double> ticks = {0, 50, 100};
  EXPECT_EQ(ShareOf(0, ticks), 0);
  EXPECT_EQ(ShareOf(25, ticks), 0.25);
  EXPECT_EQ(ShareOf(100, ticks), 1);
  EXPECT_EQ(ShareOf(120, ticks), 1);
}

TEST(Canvas, BeginsBelowOnTheLeft) {
  Canvas canvas(3, 2, /*unicode=*/false);
  canvas.Set(canvas.X(0), canvas.Y(0), 'o');
  canvas.Set(canvas.X(1), canvas.Y(1), 'o');
  EXPECT_EQ(canvas.Line(0), "  o");
  EXPECT_EQ(canvas.Line(1), "o  ");
}

TEST(Canvas, PointsWinOverLinesAndCornersBelongToWhatGoesAcross) {
  Canvas canvas(4, 4, /*unicode=*/false);
  canvas.Set(1, 0, 'o');
  canvas.DrawAcross(0, 2, 0);
  canvas.DrawDown(2, 0, 3);
  canvas.DrawAcross(3, 2, 3);
  EXPECT_EQ(canvas.Line(0), "-o- ");
  EXPECT_EQ(canvas.Line(1), "  | ");
  EXPECT_EQ(canvas.Line(2), "  | ");
  EXPECT_EQ(canvas.Line(3), "  --");
}

TEST(Canvas, BrailleHasEightDotsACharacterAndMarksReplaceThem) {
  Canvas canvas(2, 1, /*unicode=*/true);
  canvas.Set(0, 0, 'o');
  canvas.Set(1, 3, 'o');
  EXPECT_EQ(canvas.Line(0), "⢁ ");
  canvas.Mark(1, 2, "●", '*');
  EXPECT_EQ(canvas.Line(0), "● ");
}

TEST(WithAxes, PutsFiguresBesideAndWordsUnderThePicture) {
  Canvas canvas(12, 3, /*unicode=*/false);
  canvas.Set(0, 2, 'o');
  EXPECT_THAT(WithAxes(canvas, {0, 5, 10}, {.left = "1", .middle = "trial", .right = "9"}, false),
              ElementsAre("10 +", " 5 +", " 0 +o", "   +------------", "    1  trial   9"));
}

TEST(WithAxes, CutsWhatIsTooLongForTheMiddle) {
  const Canvas canvas(10, 1, /*unicode=*/false);
  const auto lines =
      WithAxes(canvas, {0, 1}, {.left = "1", .middle = "accuracy (maximize)", .right = "9"}, false);
  EXPECT_EQ(lines.back(), "   1accurac…9");
}

}  // namespace
}  // namespace vernier::cli
