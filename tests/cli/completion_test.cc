#include "src/cli/completion.h"

#include <algorithm>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/program.h"

namespace vernier::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() { BuildCommandLine(root_, flags_, chosen_); }
  CLI::App root_;
  GlobalFlags flags_;
  Action chosen_;
};

TEST_F(CompletionTest, KnowsEveryCommandAndItsOptions) {
  const auto table = CompletionTable(root_);
  const auto find = [&](const std::string& path) {
    return std::find_if(
        table.begin(), table.end(), [&](const auto& entry) { return entry.path == path; });
  };
  ASSERT_NE(find(""), table.end());
  EXPECT_THAT(find("")->subcommands, Contains("study"));
  EXPECT_THAT(find("")->options, Contains("--output"));
  ASSERT_NE(find("trial/logs"), table.end());
  EXPECT_THAT(find("trial/logs")->subcommands, IsEmpty());
  EXPECT_THAT(find("trial/logs")->options, IsSupersetOf({"--follow", "--output", "-o"}));
  EXPECT_TRUE(find("trial/logs")->takes_study);
  EXPECT_FALSE(find("study/create")->takes_study);
}

TEST_F(CompletionTest, KnowsWhichOptionsAValueFollows) {
  std::set<std::string> valued;
  std::set<std::string> plain;
  for (const CompletionEntry& entry : CompletionTable(root_)) {
    valued.insert(entry.valued_options.begin(), entry.valued_options.end());
    for (const std::string& word : entry.options) {
      const auto& with_value = entry.valued_options;
      const bool is_valued =
          std::find(with_value.begin(), with_value.end(), word) != with_value.end();
      if (!is_valued) plain.insert(word);
    }
  }
  EXPECT_THAT(valued, IsSupersetOf({"-o", "--output", "--store", "--tail", "--gpu"}));
  EXPECT_THAT(plain, IsSupersetOf({"--help", "--follow", "--yes"}));
  // A shell tells values from arguments by the option's name alone, whichever command it is of.
  for (const std::string& word : plain) EXPECT_FALSE(valued.contains(word)) << word;
}

TEST_F(CompletionTest, KnowsThreeShells) {
  EXPECT_THAT(*CompletionScript("bash", root_),
              HasSubstr("complete -o default -F _vernier_words vernier"));
  EXPECT_THAT(*CompletionScript("zsh", root_), HasSubstr("#compdef vernier"));
  EXPECT_THAT(*CompletionScript("fish", root_), HasSubstr("complete -c vernier"));
  EXPECT_EQ(CompletionScript("tcsh", root_), std::nullopt);
}

}  // namespace
}  // namespace vernier::cli
