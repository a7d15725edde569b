#include "src/cli/init/guess.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;
using What = Guess::Kind;

struct GuessCase {
  std::string name;
  std::string fallback;  // "": none.
  What what;
  std::string domain;
};

TEST(GuessFor, KnowsHyperparametersByName) {
  const GuessCase cases[] = {
      {"--lr", "", What::kTune, "float: [1e-05, 0.1], scale: log"},
      {"--learning-rate", "0.3", What::kTune, "float: [0.003, 1], scale: log"},
      {"--lr", "1.0", What::kTune, "float: [0.01, 1], scale: log"},
      {"--lr", "2", What::kTune, "float: [0.02, 200], scale: log"},
      {"--weight-decay", "0", What::kTune, "float: [1e-06, 0.01], scale: log"},
      {"--dropout", "0.6", What::kTune, "float: [0, 0.6]"},
      {"--momentum", "", What::kTune, "float: [0.5, 0.99]"},
      {"--beta2", "0.999", What::kTune, "float: [0.9, 0.9999], scale: reverse-log"},
      {"--gamma", "0.99", What::kTune, "float: [0.9, 0.9999], scale: reverse-log"},
      {"--gamma", "0.7", What::kTune, "float: [0.1, 0.99]"},
      {"--batch-size", "48", What::kTune, "discrete: [12, 24, 48, 96, 192]"},
      {"--batch_size", "", What::kTune, "discrete: [16, 32, 64, 128, 256]"},
      {"--hidden", "3", What::kTune, "int: [1, 12], scale: log"},
      {"--num-layers", "6", What::kTune, "int: [1, 12]"},
      {"--kernel-size", "3", What::kTune, "discrete: [3, 5, 7]"},
      {"--epochs", "10", What::kFix, ""},
      {"--max_steps", "", What::kFix, ""},
      {"--seed", "1", What::kLeaveOut, ""},
      {"--test-batch-size", "1000", What::kLeaveOut, ""},
      {"--num-workers", "4", What::kLeaveOut, ""},
      {"--log-interval", "10", What::kLeaveOut, ""},
      {"--data", "a", What::kLeaveOut, ""},
      {"--lr", "auto", What::kLeaveOut, ""},
      {"--foo", "", What::kLeaveOut, ""},
      {"--foo", "0.3", What::kOffer, "float: [0.15, 0.6]"},
      {"--foo", "20", What::kOffer, "int: [10, 40]"},
      {"--foo", "0", What::kLeaveOut, ""},
      {"--foo", "1e400", What::kLeaveOut, ""},
  };
  for (const GuessCase& c : cases) {
    ProgramOption option{.name = c.name};
    if (!c.fallback.empty()) option.fallback = c.fallback;
    const Guess guess = GuessFor(option);
    EXPECT_EQ(guess.kind, c.what) << c.name << " " << c.fallback;
    EXPECT_EQ(guess.domain, c.domain) << c.name << " " << c.fallback;
  }
}

TEST(GuessFor, GivesFlagsAsTheProgramTakesThem) {
  EXPECT_EQ(GuessFor({.name = "--nesterov", .kind = Kind::kFlag}).domain, "bool: {flag: true}");
  EXPECT_EQ(GuessFor({.name = "--use-bias", .kind = Kind::kFlag}).domain,
            "bool: {flag: --use-bias}");
  const Guess negative = GuessFor({.name = "--no-augment", .kind = Kind::kFlag});
  EXPECT_EQ(negative.parameter, "augment");
  EXPECT_EQ(negative.domain, "bool: {flag: --no-augment}");
  EXPECT_EQ(GuessFor({.name = "--verbose", .kind = Kind::kFlag}).kind, What::kLeaveOut);
  EXPECT_EQ(GuessFor({.name = "--no-cuda", .kind = Kind::kFlag}).kind, What::kLeaveOut);
  ProgramOption pair{.name = "--bias", .negative = "--no-bias", .kind = Kind::kPair};
  EXPECT_EQ(GuessFor(pair).domain, "categorical: [--bias, --no-bias], arg: positional");
  pair.fallback = "True";
  EXPECT_EQ(GuessFor(pair).domain, "bool: {flag: --no-bias}");
}

TEST(GuessFor, TakesChoicesAndBoundsOfTheProgram) {
  EXPECT_EQ(GuessFor({.name = "--optimizer", .choices = {"sgd", "null"}}).domain,
            "categorical: [sgd, \"null\"]");
  EXPECT_EQ(GuessFor({.name = "--width", .choices = {"8", "16"}}).domain, "discrete: [8, 16]");
  EXPECT_EQ(GuessFor({.name = "--dataset", .choices = {"a", "b"}}).kind, What::kLeaveOut);
  EXPECT_EQ(GuessFor({.name = "--layers", .type = Type::kInt, .lower = 1, .upper = 8}).domain,
            "int: [1, 8]");
  EXPECT_EQ(GuessFor({.name = "--lr", .lower = 1e-4, .upper = 1}).domain,
            "float: [0.0001, 1], scale: log");
}

TEST(GuessFor, LeavesOutWhatCannotBeTuned) {
  EXPECT_EQ(GuessFor({.name = "--lr", .obstacle = "takes several values"}).kind, What::kLeaveOut);
}

TEST(YamlText, IsQuotedWhereItMustBe) {
  EXPECT_EQ(YamlText("python3"), "python3");
  EXPECT_EQ(YamlText("--epochs=10"), "--epochs=10");
  EXPECT_EQ(YamlText("5"), "\"5\"");
  EXPECT_EQ(YamlText("null"), "\"null\"");
  EXPECT_EQ(YamlText("true"), "\"true\"");
  EXPECT_EQ(YamlText(""), "\"\"");
  EXPECT_EQ(YamlText("-"), "\"-\"");
  EXPECT_EQ(YamlText("a: b #c"), "\"a: b #c\"");
  EXPECT_EQ(YamlText("it's \"x\""), R"("it's \"x\"")");
}

}  // namespace
}  // namespace vernier::cli
