#include "src/cli/completion.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/program.h"

namespace vernier::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

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
  EXPECT_THAT(find("")->words, Contains("study"));
  ASSERT_NE(find("trial logs"), table.end());
  EXPECT_THAT(find("trial logs")->words, Contains("--follow"));
  EXPECT_THAT(find("trial logs")->words, Contains("--output"));
  EXPECT_TRUE(find("trial logs")->takes_study);
  EXPECT_FALSE(find("study create")->takes_study);
}

TEST_F(CompletionTest, KnowsThreeShells) {
  EXPECT_THAT(*CompletionScript("bash", root_), HasSubstr("complete -F _vernier vernier"));
  EXPECT_THAT(*CompletionScript("zsh", root_), HasSubstr("#compdef vernier"));
  EXPECT_THAT(*CompletionScript("fish", root_), HasSubstr("complete -c vernier"));
  EXPECT_EQ(CompletionScript("tcsh", root_), std::nullopt);
}

}  // namespace
}  // namespace vernier::cli
