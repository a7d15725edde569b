#include "src/app/usage.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A program with one command, `list`.
class UsageTest : public ::testing::Test {
 protected:
  UsageTest() {
    root_.name("tool");
    root_.formatter(NewHelpFormatter("Options of every command: --output."));
    root_.require_subcommand(1);
    root_.fallthrough();
    root_.add_option("-o,--output", output_, "Output format");
    list_ = root_.add_subcommand("list", "List things");
    list_->add_option("THING", thing_, "Name of the thing")->required();
    list_->add_option("--filter", filter_, "Only these things");
    list_->add_option("--limit", limit_, std::string(30, 'x') + " and " + std::string(30, 'y'));
  }

  UsageError Parse(const std::vector<std::string>& args) {
    try {
      app::Parse(root_, args);
    } catch (const CLI::ParseError& error) {
      return ExplainUsage(error, root_);
    }
    return {};
  }

  CLI::App root_;
  CLI::App* list_ = nullptr;
  std::string output_, thing_, filter_;
  int limit_ = 0;
};

TEST_F(UsageTest, SaysWhatIsUnknownAndWhatIsNear) {
  EXPECT_EQ(Parse({"lst"}).sentence, "unknown command 'lst'; did you mean 'list'?");
  const UsageError error = Parse({"list", "a", "--fliter", "x"});
  EXPECT_EQ(error.sentence, "unknown option '--fliter'; did you mean '--filter'?");
  EXPECT_EQ(error.hint, "`tool list --help` shows its arguments and options");
}

TEST_F(UsageTest, NamesTheOptionThatDoesWhatWasMeant) {
  const UsageError error = Parse({"list", "a", "--state", "failed"});
  EXPECT_EQ(error.sentence, "unknown option '--state'");
  EXPECT_EQ(error.hint, "use --filter 'state = FAILED'");
  EXPECT_EQ(Parse({"list", "a", "--state=RUNNING"}).hint, "use --filter 'state = RUNNING'");
  EXPECT_EQ(Parse({"list", "a", "--json"}).hint, "use -o json");
  // Advice that names an option which the command lacks would lead nowhere.
  EXPECT_THAT(Parse({"list", "a", "--sort-by", "x"}).hint, Not(HasSubstr("--sort")));
}

TEST_F(UsageTest, TranslatesTheWordsOfTheParser) {
  EXPECT_EQ(Parse({"list", "a", "--limit", "many"}).sentence,
            "--limit: must be a number, got 'many'");
  EXPECT_EQ(Parse({"list", "a", "--limit"}).sentence, "--limit: needs a value");
  EXPECT_EQ(Parse({"list"}).sentence, "THING is required");
  EXPECT_EQ(Parse({"list", "a", "--limit", "1", "--limit", "2"}).sentence,
            "--limit: must be given once");
}

TEST_F(UsageTest, TakesNoNextWordForTheValueThatIsMissing) {
  EXPECT_EQ(Parse({"list", "a", "--filter=", "x"}).sentence, "--filter: needs a value after '='");
  EXPECT_EQ(Parse({"list", "a", "--filter=x="}).sentence, "");
  EXPECT_EQ(filter_, "x=");
}

TEST_F(UsageTest, HelpBeginsWithWhatTheCommandDoesAndKeepsTo80Columns) {
  const std::string help = list_->help("tool");
  EXPECT_TRUE(help.starts_with("List things\n\nUsage: tool list THING [OPTIONS]\n")) << help;
  EXPECT_THAT(help, HasSubstr("Arguments:\n  THING                   Name of the thing\n"));
  EXPECT_THAT(help, HasSubstr("\nOptions of every command: --output.\n"));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(root_.help(), HasSubstr("Commands:\n  list                    List things\n"));
}

TEST(WrapHelp, BreaksAtBlanks) {
  const std::string text =
      WrapHelp("  --name  " + std::string(60, 'a') + " " + "bbbbbbbbbbbb c", 4);
  EXPECT_EQ(text, "  --name  " + std::string(60, 'a') + "\n    bbbbbbbbbbbb c");
  const std::string word(100, 'w');
  EXPECT_EQ(WrapHelp(word + " x", 2), word + "\n  x");
  EXPECT_EQ(WrapHelp("", 2), "");
}

}  // namespace
}  // namespace vernier::app
