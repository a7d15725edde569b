#include "src/cli/log_text.h"

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

TEST(ShownText, WritesOverWhatBackspacesWentBackTo) {
  EXPECT_EQ(ShownText("1/30 [..]\b\b\b\b\b\b\b\b\b2/30 [=.]"), "2/30 [=.]");
  EXPECT_EQ(ShownText("abcd\b\bX"), "abXd");
  EXPECT_EQ(ShownText("é\be"), "e");
  EXPECT_EQ(ShownText("\b\ba"), "a");
  EXPECT_EQ(ShownText("\x1b[1mab\x1b[0m\bc"), "ac");
}

TEST(ShownText, LeavesOtherLinesAsTheyAre) {
  EXPECT_EQ(ShownText("epoch=1  loss=0.5  "), "epoch=1  loss=0.5  ");
  EXPECT_EQ(ShownText("a\x01z"), "a·z");
}

}  // namespace
}  // namespace vernier::cli
