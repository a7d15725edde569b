#include "src/base/terminal_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(std::string_view raw) {
  std::vector<std::string> texts;
  for (const base::TerminalLine& line : base::SplitTerminalLine(raw)) {
    texts.push_back((line.overwritten ? "~" : "") + line.text);
  }
  return texts;
}

TEST(SplitTerminalLine, LeavesPlainTextAsItIs) {
  EXPECT_THAT(Texts("loss=0.5\tacc=0.9"), ElementsAre("loss=0.5\tacc=0.9"));
  EXPECT_THAT(Texts(""), IsEmpty());
  EXPECT_THAT(Texts("  \t"), IsEmpty());
  EXPECT_THAT(Texts("Größe: 3"), ElementsAre("Größe: 3"));
}

TEST(SplitTerminalLine, ACarriageReturnEndsALineThatIsWrittenOver) {
  EXPECT_THAT(Texts("\rloss=3\rloss=2\rloss=1"), ElementsAre("~loss=3", "~loss=2", "loss=1"));
  EXPECT_THAT(Texts("loss=3\r"), ElementsAre("~loss=3"));
  EXPECT_THAT(Texts("\r\r"), IsEmpty());
}

TEST(SplitTerminalLine, BackspacesEndALineToo) {
  EXPECT_THAT(Texts("loss=3\b\b\b\b\b\bloss=2"), ElementsAre("~loss=3", "loss=2"));
}

TEST(SplitTerminalLine, TakesEscapeSequencesOut) {
  EXPECT_THAT(Texts("\x1b[1;32mval_loss\x1b[0m: \x1b[38;5;196m0.5\x1b[m"),
              ElementsAre("val_loss: 0.5"));
  EXPECT_THAT(Texts("\x1b[2K\x1b[1Aloss=1"), ElementsAre("loss=1"));
  EXPECT_THAT(Texts("\x1b]0;title\aloss=1"), ElementsAre("loss=1"));
  EXPECT_THAT(Texts("\x1b]8;;https://example.org\x1b\\loss=1\x1b]8;;\x1b\\"),
              ElementsAre("loss=1"));
  EXPECT_THAT(Texts("\x1b(Bloss=1\x1b="), ElementsAre("loss=1"));
}

TEST(SplitTerminalLine, SurvivesSequencesThatAreCut) {
  for (const std::string raw : {"loss=1\x1b", "loss=1\x1b[", "loss=1\x1b[3", "loss=1\x1b]0;t"}) {
    EXPECT_THAT(Texts(raw), ElementsAre("loss=1")) << raw;
  }
}

TEST(SplitTerminalLine, DropsOtherControlCharacters) {
  EXPECT_THAT(Texts(std::string("a\0b\x01", 4) + "c"), ElementsAre("abc"));
}

}  // namespace
}  // namespace vernier::metrics
