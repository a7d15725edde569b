#include "src/cli/terminal/pareto.h"

#include <algorithm>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

ParetoPicture Example(Goal x, Goal y) {
  return {.study = "a<b",
          .x = {.metric = "accuracy", .goal = x},
          .y = {.metric = "latency", .goal = y},
          .points = {{.trial = 1, .x = 1, .y = 3, .optimal = true},
                     {.trial = 2, .x = 2, .y = 2},
                     {.trial = 3, .x = 3, .y = 1, .optimal = true},
                     {.trial = 4, .x = 9, .y = 9, .breaks_constraint = true}}};
}

std::vector<std::pair<double, double>> Corners(const ParetoPicture& picture) {
  std::vector<std::pair<double, double>> corners;
  for (const Corner& corner : Staircase(picture)) corners.emplace_back(corner.x, corner.y);
  return corners;
}

TEST(Staircase, HasACornerThatBothNeighboursDominate) {
  EXPECT_THAT(Corners(Example(Goal::kMaximize, Goal::kMaximize)),
              ElementsAre(Pair(1, 3), Pair(1, 2), Pair(2, 2), Pair(2, 1), Pair(3, 1)));
  EXPECT_THAT(Corners(Example(Goal::kMinimize, Goal::kMinimize)),
              ElementsAre(Pair(1, 3), Pair(2, 3), Pair(2, 2), Pair(3, 2), Pair(3, 1)));
  EXPECT_THAT(Corners(Example(Goal::kMaximize, Goal::kMinimize)), ElementsAre(Pair(3, 1)));
  EXPECT_THAT(Corners(Example(Goal::kMinimize, Goal::kMaximize)), ElementsAre(Pair(1, 3)));
}

TEST(Staircase, IsThereOnlyIfATrialKeepsTheConstraints) {
  ParetoPicture picture = Example(Goal::kMaximize, Goal::kMaximize);
  for (ParetoPoint& point : picture.points) point.breaks_constraint = true;
  EXPECT_THAT(Corners(picture), IsEmpty());
  EXPECT_THAT(DrawPareto(picture, {}, true), Not(IsEmpty()));
}

TEST(DrawPareto, FitsItsSize) {
  const ParetoPicture picture = Example(Goal::kMaximize, Goal::kMaximize);
  for (const bool unicode : {true, false}) {
    for (const int width : {40, 80, 120}) {
      const auto lines = DrawPareto(picture, {.width = width, .height = 10}, unicode);
      EXPECT_EQ(lines.size(), 14U);
      for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(DrawPareto, ShowsEachKindOfTrialAndNamesIt) {
  const auto lines =
      DrawPareto(Example(Goal::kMaximize, Goal::kMaximize), {.width = 60, .height = 12}, false);
  EXPECT_EQ(lines.front(), "latency (maximize)");
  EXPECT_EQ(lines.back(), "! breaks a constraint   o dominated   * optimal");
  const auto count = [&lines](char mark) {
    std::ptrdiff_t found = 0;
    for (std::size_t i = 1; i + 3 < lines.size(); ++i) {
      found += std::count(lines[i].begin(), lines[i].end(), mark);
    }
    return found;
  };
  EXPECT_EQ(count('*'), 2);
  EXPECT_EQ(count('o'), 1);
  EXPECT_EQ(count('!'), 1);
  EXPECT_GT(count('-'), 0);
}

TEST(DrawPareto, SaysThatThereIsNothingToDraw) {
  ParetoPicture empty = Example(Goal::kMaximize, Goal::kMaximize);
  empty.points.clear();
  EXPECT_THAT(DrawPareto(empty, {}, true),
              ElementsAre("study a<b: no trial has completed with finite values of accuracy and "
                          "latency"));
  EXPECT_TRUE(ParetoSvg(empty).ends_with("</svg>\n"));
}

TEST(ParetoSvg, IsWellFormedAndEscapesNames) {
  const std::string svg = ParetoSvg(Example(Goal::kMaximize, Goal::kMinimize));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b: maximize accuracy, minimize latency"));
  EXPECT_THAT(svg, HasSubstr("trial 3: accuracy 3, latency 1 (optimal)"));
  EXPECT_THAT(svg, HasSubstr("trial 4: accuracy 9, latency 9 (breaks a constraint)"));
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '<'), std::count(svg.begin(), svg.end(), '>'));
}

}  // namespace
}  // namespace vernier::cli
