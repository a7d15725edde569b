#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/plot/svg_renderer.h"
#include "src/cli/plot/text_renderer.h"
#include "src/cli/terminal/text.h"

namespace vernier::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// One of each mark.
Figure Everything() {
  Panel panel = {.title = "a <panel>",
                 .x = {.scale = AxisScale::Linear(0, 10), .label = "x & more"},
                 .y = {.scale = AxisScale::Linear(0, 10), .label = "y"}};
  panel.marks.emplace_back(Field{.x = {0, 5, 10}, .y = {0, 10}, .values = {0, 0.5, 1, 0, 0.5, 1}});
  panel.marks.emplace_back(Band{.x = {0, 5, 10}, .low = {1, 1, NAN}, .high = {2, 3, NAN}});
  panel.marks.emplace_back(Box{.from = {1, 1}, .to = {2, 2}, .title = "box"});
  panel.marks.emplace_back(Line{.points = {{0, 0}, {NAN, 1}, {-1e300, 5}, {1e300, 6}}});
  for (const Shape shape : {Shape::kDisc,
                            Shape::kRing,
                            Shape::kCross,
                            Shape::kDiamond,
                            Shape::kSquare,
                            Shape::kPlus,
                            Shape::kStar,
                            Shape::kUp,
                            Shape::kDown}) {
    panel.marks.emplace_back(
        Dot{.at = {static_cast<double>(shape), 5}, .shape = shape, .title = "\"<&>'\x01\xff"});
  }
  panel.marks.emplace_back(Words{.at = {3, 8}, .text = "<words>"});
  return {.title = "title <&>",
          .subtitle = "subtitle",
          .panels = {panel, panel},
          .columns = 2,
          .legend = {{.text = "entry & entry", .shape = Shape::kDisc}, {.text = "line"}},
          .bar = ColorBar{.scale = AxisScale::Linear(3, 1), .label = "bar"},
          .notes = {"a note"}};
}

// Every tag that is opened is closed, in order: what an XML parser would insist on.
bool IsBalanced(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

TEST(RenderSvg, IsBalancedAndEscapesText) {
  const std::string svg = RenderSvg(Everything());
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_THAT(svg, HasSubstr("<title>title &lt;&amp;&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>&quot;&lt;&amp;&gt;&#39; \xEF\xBF\xBD</title>"));
  EXPECT_THAT(svg, HasSubstr("&lt;words&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
}

TEST(RenderSvg, LeavesItsStyleToThePageIfItIsPartOfOne) {
  const std::string svg = RenderSvg(Everything(), {.standalone = false});
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_THAT(svg, Not(HasSubstr("<style>")));
}

TEST(RenderText, FitsItsWidth) {
  for (const bool unicode : {true, false}) {
    for (const int width : {30, 40, 80, 200}) {
      for (const std::string& line :
           RenderText(Everything(), {.width = width, .height = 8, .unicode = unicode})) {
        EXPECT_LE(cli::DisplayWidth(line), width) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
    }
  }
}

TEST(RenderText, IsAsciiIfItMustBe) {
  Figure figure = Everything();
  for (Panel& panel : figure.panels) panel.marks.erase(panel.marks.begin() + 4, panel.marks.end());
  for (const std::string& line : RenderText(figure, {.unicode = false})) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 0x7F; }))
        << line;
  }
}

TEST(RenderText, HasColoursOnlyIfAsked) {
  const auto has_escape = [](const std::vector<std::string>& lines) {
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find('\x1b') != std::string::npos;
    });
  };
  EXPECT_FALSE(has_escape(RenderText(Everything(), {.color = false})));
  EXPECT_TRUE(has_escape(RenderText(Everything(), {.color = true})));
}

TEST(RenderText, DrawsALineAcross) {
  Figure figure = {.title = "t"};
  figure.panels.push_back(
      {.x = {.scale = AxisScale::Linear(0, 1)}, .y = {.scale = AxisScale::Linear(0, 1)}});
  figure.panels[0].marks.emplace_back(Line{.points = {{0, 0}, {1, 0}}});
  const auto lines = RenderText(figure, {.width = 16, .height = 3, .unicode = false});
  EXPECT_THAT(
      lines,
      ElementsAre("t", "1 +", "  |", "0 +-------------", "  +-------------", "   0           1"));
}

TEST(RenderText, SaysThatThereIsNothingToDraw) {
  EXPECT_THAT(RenderText({.title = "t", .empty = "no trial has a value yet"}, {}),
              ElementsAre("no trial has a value yet"));
}

}  // namespace
}  // namespace vernier::plot
