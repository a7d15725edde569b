#include "src/cli/terminal/table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table Example() {
  Table table({{.name = "N", .align = Align::kRight}, {.name = "TEXT", .flexible = true}});
  table.AddRow({{"7"}, {"short"}});
  table.AddRow({{"12"}, {"a text that is rather long"}});
  return table;
}

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  EXPECT_THAT(Example().Lines({.width = 80}),
              ElementsAre(" N  TEXT", " 7  short", "12  a text that is rather long"));
}

TEST(Table, CutsTheFlexibleColumnToTheWidth) {
  EXPECT_THAT(Example().Lines({.width = 14, .headers = false}),
              ElementsAre(" 7  short", "12  a text th…"));
}

TEST(Table, WrapsAColumnThatWraps) {
  Table table({{.name = "N"}, {.name = "ADVICE", .flexible = true, .wraps = true}});
  table.AddRow({{"1"}, {"make room on the disk"}});
  table.AddRow({{"2"}, {"none"}});
  EXPECT_THAT(table.Lines({.width = 14}),
              ElementsAre("N  ADVICE", "1  make room", "   on the disk", "2  none"));
}

TEST(Table, CutsNothingIfToldSoButWraps) {
  EXPECT_THAT(Example().Lines({.width = 14, .headers = false, .cut = false}),
              ElementsAre(" 7  short", "12  a text that is rather long"));
  Table table({{.name = "N"}, {.name = "ADVICE", .flexible = true, .wraps = true}});
  table.AddRow({{"1"}, {"make room on the disk"}});
  EXPECT_THAT(table.Lines({.width = 14, .headers = false, .cut = false}),
              ElementsAre("1  make room", "   on the disk"));
}

TEST(Table, NeverExceedsTheWidthEvenWhereNothingGivesWay) {
  for (int width = 1; width < 40; ++width) {
    for (const std::string& line : Example().Lines({.width = width})) {
      EXPECT_LE(DisplayWidth(line), width) << width;
    }
  }
}

TEST(Table, PaintsOnlyWithColor) {
  Table table({{.name = "STATE"}});
  table.AddRow({{"FAILED", Style::kRed}});
  EXPECT_THAT(table.Lines({.headers = false, .color = true}),
              ElementsAre(HasSubstr("\x1b[31mFAILED")));
  EXPECT_THAT(table.Lines({.headers = false}), ElementsAre("FAILED"));
}

}  // namespace
}  // namespace vernier::cli
