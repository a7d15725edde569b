#include "src/cli/init/draft.h"

#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/init/source_text.h"
#include "src/codec/study_file.h"
#include "tests/cli/init/init_data.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;

DraftInput InputOf(const std::string& program) {
  DraftInput input{.study = "train",
                   .command = {"python3", "train.py"},
                   .working_directory = {},
                   .help = ParseHelp(::vernier::testing::InitData(program + ".txt")),
                   .metrics = {}};
  const std::string source = ::vernier::testing::InitData(program + ".py.txt");
  AddFromSource(source, input.help);
  input.metrics = MetricsIn(source);
  return input;
}

// Help and source of programs that were written and run for these tests.
class DraftOfProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(DraftOfProgram, IsTheExpectedStudyFile) {
  const Draft draft = MakeDraft(InputOf(GetParam()));
  EXPECT_EQ(draft.yaml, ::vernier::testing::InitData(std::string(GetParam()) + ".yaml"));
  EXPECT_THAT(codec::ParseStudyFile(draft.yaml), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Programs,
                         DraftOfProgram,
                         ::testing::Values("argparse", "click", "absl", "hydra", "typer"));

TEST(MakeDraft, TellsWhatItGuessed) {
  const Draft draft = MakeDraft(InputOf("argparse"));
  EXPECT_THAT(draft.tuned, Contains("batch_size"));
  EXPECT_THAT(draft.offered, ElementsAre("ratio"));
  EXPECT_THAT(draft.fixed, ElementsAre("data", "--epochs=10"));
  EXPECT_THAT(draft.left_out, Contains("--seed"));
  EXPECT_THAT(draft.to_check, Contains("data is required: write its value in place of FIXME"));
  EXPECT_THAT(draft.to_check,
              Contains("objective: maximize val_acc, which the program seems to print"));
}

TEST(MakeDraft, SaysWhereTheMetricIsReadIfItsNameIsNotEnough) {
  DraftInput input = InputOf("argparse");
  input.metrics = MetricsIn("print(f'test acc {acc:.2f}%')");
  const Draft draft = MakeDraft(input);
  EXPECT_THAT(draft.yaml,
              HasSubstr("objective: {maximize: test_acc}\n"
                        "metrics: {test_acc: {after: 'test acc '}}\n"));
  EXPECT_THAT(codec::ParseStudyFile(draft.yaml), IsOk());
  input.metrics = MetricsIn("w = SummaryWriter()\nw.add_scalar('Loss/val', x)");
  const Draft events = MakeDraft(input);
  EXPECT_THAT(events.yaml,
              HasSubstr("metrics: {val_loss: {tfevents: 'Loss/val', folder: 'runs'}}"));
  EXPECT_THAT(events.to_check,
              Contains("event files must be below runs, and trials run one at a time"));
  EXPECT_THAT(codec::ParseStudyFile(events.yaml), IsOk());
}

TEST(MakeDraft, SaysSoWhereTheMetricIsAGuess) {
  DraftInput input = InputOf("argparse");
  input.metrics.clear();
  EXPECT_THAT(
      MakeDraft(input).yaml,
      HasSubstr("objective: {minimize: loss}  # a guess: nothing was found in the program\n"));
}

TEST(MakeDraft, LeavesAloneWhatTheCommandSays) {
  DraftInput input = InputOf("argparse");
  input.command = {"python3", "train.py", "images", "--lr", "0.1", "--epochs=3"};
  const Draft draft = MakeDraft(input);
  EXPECT_THAT(draft.tuned, Not(Contains("lr")));
  EXPECT_THAT(draft.fixed, IsEmpty());
  EXPECT_THAT(draft.yaml,
              HasSubstr("command: [python3, train.py, images, --lr, \"0.1\", --epochs=3]"));
  EXPECT_THAT(codec::ParseStudyFile(draft.yaml), IsOk());
}

TEST(MakeDraft, TunesUnknownNumbersWhereNothingElseIsThere) {
  DraftInput input = InputOf("argparse");
  input.help.options = {{.name = "--ratio", .fallback = "0.3"},
                        {.name = "--seed", .fallback = "1"}};
  const Draft draft = MakeDraft(input);
  EXPECT_THAT(draft.tuned, ElementsAre("ratio"));
  EXPECT_THAT(codec::ParseStudyFile(draft.yaml), IsOk());
}

TEST(MakeDraft, HasNothingToTuneWhereNothingIsThere) {
  DraftInput input = InputOf("argparse");
  input.help.options = {{.name = "--seed", .fallback = "1"}};
  EXPECT_THAT(MakeDraft(input).tuned, IsEmpty());
}

// Whatever a program says, the file that is handed out is sound or refused.
TEST(MakeDraft, IsSoundWhateverProgramsAreCalledAndSay) {
  DraftInput input = InputOf("click");
  input.command = {"python3", "my \"train\": #1.py", "null", "é"};
  input.working_directory = "/tmp/a b: c";
  input.help.options.push_back({.name = "--x:y", .choices = {"a: b", "{}", "- x", "é", ""}});
  input.help.options.push_back(
      {.name = "--act", .choices = {"relu", "no", "~"}, .fallback = "~", .about = "# {x}: \"y\""});
  const Draft draft = MakeDraft(input);
  EXPECT_THAT(codec::ParseStudyFile(draft.yaml), IsOk()) << draft.yaml;
}

}  // namespace
}  // namespace vernier::cli
