#include "src/cli/terminal/text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;

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

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_THAT(Wrap("make room on the disk", 9), ElementsAre("make room", "on the", "disk"));
  EXPECT_THAT(Wrap("make room", 9), ElementsAre("make room"));
  EXPECT_THAT(Wrap("", 9), ElementsAre(""));
}
TEST(Wrap, BreaksAWordThatIsTooLong) {
  EXPECT_THAT(Wrap("/var/lib/store x", 6), ElementsAre("/var/l", "ib/sto", "re x"));
  EXPECT_THAT(Wrap("日本語", 3), ElementsAre("日", "本", "語"));
}
TEST(Wrap, LosesNothingButBlanks) {
  const std::string text = "a bb  ccc dddd eeeee  日本 \xff f";
  for (int width = 2; width < 30; ++width) {
    std::string joined;
    for (const std::string& line : Wrap(text, width)) {
      EXPECT_LE(DisplayWidth(line), width);
      joined += line;
    }
    const auto without_blanks = [](std::string s) {
      std::erase(s, ' ');
      return s;
    };
    EXPECT_EQ(without_blanks(joined), without_blanks(text)) << width;
  }
}

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

TEST(Printable, DisarmsEscapeSequences) {
  EXPECT_EQ(Printable("a\x1b[2Jb\tc\r"), "a·[2Jb c·");
  EXPECT_EQ(Printable("a\u009b2Jb"), "a·2Jb");
}
TEST(Printable, ShowsWhatChangesTheDirectionOfText) {
  EXPECT_EQ(Printable("ab\u202ecd\u2066e"), "ab·cd·e");
}
TEST(Printable, KeepsLettersOfAllKinds) {
  EXPECT_EQ(Printable("äöλ中🙂\xff"), "äöλ中🙂\xff");
}

TEST(FirstLine, HasNoBlanksAround) {
  EXPECT_EQ(FirstLine("\n  ValueError: x \r\nTraceback\n"), "ValueError: x");
  EXPECT_EQ(FirstLine("one"), "one");
  EXPECT_EQ(FirstLine(" \n\t"), "");
  EXPECT_EQ(FirstLine(""), "");
}

TEST(PrintableLines, KeepsLinesApart) {
  EXPECT_EQ(PrintableLines("a\r\n  b\x1b\n\n"), (std::vector<std::string>{"a", "  b·"}));
  EXPECT_TRUE(PrintableLines("").empty());
}

}  // namespace
}  // namespace vernier::cli
