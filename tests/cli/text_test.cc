#include "src/cli/terminal/text.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

struct WidthCase {
  std::string text;
  int width;
};
class DisplayWidthTest : public ::testing::TestWithParam<WidthCase> {};
TEST_P(DisplayWidthTest, CountsColumns) {
  EXPECT_EQ(DisplayWidth(GetParam().text), GetParam().width);
}
INSTANTIATE_TEST_SUITE_P(Table,
                         DisplayWidthTest,
                         ::testing::ValuesIn(std::vector<WidthCase>{
                             {"", 0},
                             {"abc", 3},
                             {"é", 1},
                             {"e\u0301", 1},
                             {"日本", 4},
                             {"▁▂▃", 3},
                             {"\xff\xfe", 2},
                             {"a\xe2\x82", 3},
                         }));

TEST(Truncate, KeepsWhatFits) { EXPECT_EQ(Truncate("abc", 3), "abc"); }
TEST(Truncate, MarksWhatWasCut) { EXPECT_EQ(Truncate("abcd", 3), "ab…"); }
TEST(Truncate, NeverSplitsAWideCharacter) { EXPECT_EQ(Truncate("日本語", 4), "日…"); }

TEST(Pad, CountsColumnsNotBytes) {
  EXPECT_EQ(PadRight("é", 3), "é  ");
  EXPECT_EQ(PadLeft("é", 3), "  é");
  EXPECT_EQ(PadLeft("abcd", 3), "abcd");
}

TEST(Paint, AddsNothingWithoutColor) {
  EXPECT_EQ(Paint("x", Style::kRed, false), "x");
  EXPECT_EQ(Paint("x", Style::kPlain, true), "x");
  EXPECT_EQ(Paint("x", Style::kRed, true), "\x1b[31mx\x1b[0m");
}

TEST(Printable, DisarmsEscapeSequences) { EXPECT_EQ(Printable("a\x1b[2Jb\tc\r"), "a·[2Jb c·"); }

}  // namespace
}  // namespace vernier::cli
