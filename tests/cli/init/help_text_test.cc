#include "src/cli/init/help_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/init/init_data.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;

ProgramOption OptionOf(const HelpText& help, const std::string& name) {
  const auto found = std::ranges::find(help.options, name, &ProgramOption::name);
  EXPECT_NE(found, help.options.end()) << name;
  return found == help.options.end() ? ProgramOption() : *found;
}

TEST(ParseHelp, KnowsTheLibraries) {
  for (const char* const library : {"argparse", "click", "absl", "hydra"}) {
    EXPECT_EQ(ParseHelp(::vernier::testing::InitData(std::string(library) + ".txt")).library,
              library);
  }
  EXPECT_EQ(ParseHelp(::vernier::testing::InitData("gnu.txt")).library, "");
}

TEST(ParseHelp, ReadsArgparse) {
  const HelpText help = ParseHelp(::vernier::testing::InitData("argparse.txt"));
  const ProgramOption batch = OptionOf(help, "--batch-size");
  EXPECT_EQ(batch.kind, Kind::kValue);
  EXPECT_EQ(batch.about, "images in one step");
  EXPECT_THAT(OptionOf(help, "--optimizer").choices, ElementsAre("sgd", "adam"));
  EXPECT_EQ(OptionOf(help, "--nesterov").kind, Kind::kFlag);
  EXPECT_EQ(OptionOf(help, "--bias").kind, Kind::kPair);
  EXPECT_EQ(OptionOf(help, "--bias").negative, "--no-bias");
  EXPECT_EQ(OptionOf(help, "--milestones").obstacle, "takes several values");
  const ProgramOption data = OptionOf(help, "data");
  EXPECT_EQ(data.kind, Kind::kPositional);
  EXPECT_TRUE(data.is_required);
}

TEST(ParseHelp, ReadsClick) {
  const HelpText help = ParseHelp(::vernier::testing::InitData("click.txt"));
  EXPECT_EQ(OptionOf(help, "--batch-size").type, Type::kInt);
  EXPECT_EQ(OptionOf(help, "--batch-size").fallback, "32");
  EXPECT_EQ(OptionOf(help, "--dropout").type, Type::kFloat);
  EXPECT_EQ(OptionOf(help, "--dropout").upper, 0.5);
  EXPECT_EQ(OptionOf(help, "--optimizer").fallback, "adam") << "wrapped over two lines";
  EXPECT_EQ(OptionOf(help, "--nesterov").fallback, "False");
  EXPECT_TRUE(OptionOf(help, "--steps").is_required);
  EXPECT_EQ(OptionOf(help, "data").kind, Kind::kPositional);
}

TEST(ParseHelp, ReadsTheBoxesOfTyper) {
  const HelpText help = ParseHelp(::vernier::testing::InitData("typer.txt"));
  EXPECT_EQ(OptionOf(help, "--lr").fallback, "0.01");
  EXPECT_EQ(OptionOf(help, "--lr").type, Type::kFloat);
  EXPECT_EQ(OptionOf(help, "--nesterov").kind, Kind::kPair);
}

TEST(ParseHelp, ReadsAbsl) {
  const HelpText help = ParseHelp(::vernier::testing::InitData("absl.txt"));
  EXPECT_EQ(OptionOf(help, "--learning_rate").fallback, "0.001");
  EXPECT_EQ(OptionOf(help, "--learning_rate").about, "Learning rate of the optimizer.");
  EXPECT_EQ(OptionOf(help, "--train_steps").type, Type::kInt);
  EXPECT_EQ(OptionOf(help, "--dropout").upper, 0.5);
  EXPECT_EQ(OptionOf(help, "--nesterov").type, Type::kBool);
  EXPECT_THAT(OptionOf(help, "--optimizer").choices, ElementsAre("sgd", "adam"));
  EXPECT_EQ(OptionOf(help, "--model_dir").type, Type::kText);
}

TEST(ParseHelp, ReadsHydra) {
  const HelpText help = ParseHelp(::vernier::testing::InitData("hydra.txt"));
  EXPECT_THAT(OptionOf(help, "optimizer").choices, ElementsAre("adam", "sgd"));
  EXPECT_EQ(OptionOf(help, "model.dropout").fallback, "0.1");
  EXPECT_EQ(OptionOf(help, "model.bias").type, Type::kBool);
  EXPECT_EQ(OptionOf(help, "batch_size").kind, Kind::kAssignment);
}

TEST(ParseHelp, ReadsWhatIsWrittenLikeThem) {
  const HelpText clap = ParseHelp(::vernier::testing::InitData("clap.txt"));
  EXPECT_EQ(OptionOf(clap, "--lr").fallback, "0.001");
  EXPECT_THAT(OptionOf(clap, "--optimizer").choices, ElementsAre("sgd", "adam"));
  EXPECT_TRUE(OptionOf(clap, "--steps").is_required);
  const HelpText gnu = ParseHelp(::vernier::testing::InitData("gnu.txt"));
  EXPECT_EQ(OptionOf(gnu, "--rate").fallback, "0.05");
  EXPECT_EQ(OptionOf(gnu, "--eta").fallback, "0.3");
  EXPECT_EQ(OptionOf(gnu, "--momentum").fallback, "0.9");
  EXPECT_EQ(OptionOf(gnu, "-l").about, "number of layers");
}

TEST(ParseHelp, KnowsThatACommandIsMissing) {
  EXPECT_THAT(ParseHelp(::vernier::testing::InitData("commands.txt")).commands,
              ElementsAre("train", "eval"));
}

TEST(ParseHelp, FindsNothingInWhatIsNoHelp) {
  for (const char* const text : {"",
                                 "\n\n\n",
                                 "Traceback (most recent call last):\n  File \"a.py\", line 1\n"
                                 "ModuleNotFoundError: No module named 'torch'\n",
                                 "\x1b[31m\xff\xfe{}[]<>--\r\n -- \n-\n  - a list\n"}) {
    EXPECT_THAT(ParseHelp(text).options, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace vernier::cli
