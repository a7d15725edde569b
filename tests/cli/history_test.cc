#include "src/cli/terminal/history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

History Example() {
  return {.study = "a<b",
          .metric = "loss",
          .goal = Goal::kMinimize,
          .points = {{.trial = 1, .value = 3},
                     {.trial = 2, .value = std::numeric_limits<double>::infinity()},
                     {.trial = 3, .value = 5},
                     {.trial = 4, .value = 0.5, .state = TrialState::kRunning},
                     {.trial = 5, .value = 1, .stopped_early = true}}};
}

TEST(BestSoFar, CountsCompletedFiniteTrialsOnly) {
  EXPECT_THAT(BestSoFar(Example()), ElementsAre(3, 3, 3, 3, 1));
}

TEST(DrawHistory, FitsItsSize) {
  for (const bool unicode : {true, false}) {
    for (const int width : {40, 80, 120}) {
      const auto lines = DrawHistory(Example(), {.width = width, .height = 10}, unicode);
      EXPECT_EQ(lines.size(), 13U);
      for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(DrawHistory, DrawsEveryFiniteTrialOfAnAsciiPicture) {
  const auto lines = DrawHistory(Example(), {.width = 60, .height = 12}, false);
  int points = 0;
  for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
    points += static_cast<int>(std::count(lines[i].begin(), lines[i].end(), 'o'));
  }
  EXPECT_EQ(points, 4);
}

TEST(DrawHistory, WhatBreaksAConstraintIsHollowAndNeverTheBest) {
  History history = Example();
  history.points[4].breaks_constraint = true;
  EXPECT_THAT(BestSoFar(history), ElementsAre(3, 3, 3, 3, 3));
  const auto count = [&](const std::string& mark, bool unicode) {
    int found = 0;
    for (const std::string& line : DrawHistory(history, {.width = 60, .height = 12}, unicode)) {
      found += line.find(mark) == std::string::npos ? 0 : 1;
    }
    return found;
  };
  EXPECT_EQ(count("○", true), 1);
  EXPECT_EQ(count("!", false), 1);
  EXPECT_THAT(HistorySvg(history), HasSubstr("trial 5: 1 (breaks a constraint)"));
}

TEST(DrawHistory, SaysThatThereIsNothingToDraw) {
  History empty = Example();
  empty.points = {{.trial = 1, .value = std::nan("")}};
  EXPECT_THAT(DrawHistory(empty, {}, true), ElementsAre("study a<b: no trial has a value yet"));
}

TEST(HistorySvg, IsWellFormedAndEscapesNames) {
  const std::string svg = HistorySvg(Example());
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b: minimize loss"));
  EXPECT_THAT(svg, HasSubstr("trial 5: 1 (stopped early)"));
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("inf")));
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("nan")));
}

TEST(HistorySvg, StandsWithoutAnyTrial) {
  History empty = Example();
  empty.points.clear();
  EXPECT_TRUE(HistorySvg(empty).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace vernier::cli
