#include "src/cli/assignment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::vernier::testing::StatusIs;

TEST(ParseOptions, ReadsEachValueAsWhatItLooksLike) {
  const auto options = ParseOptions(
      "--option", {"flag=true", "count=3", "share=0.5", "small=3e-05", "word=three", "empty="});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(*options,
              ElementsAre(Pair("count", ParameterValue(std::int64_t{3})),
                          Pair("empty", ParameterValue(std::string())),
                          Pair("flag", ParameterValue(true)),
                          Pair("share", ParameterValue(0.5)),
                          Pair("small", ParameterValue(3e-05)),
                          Pair("word", ParameterValue(std::string("three")))));
}

TEST(ParseOptions, RefusesWhatIsNoAssignment) {
  EXPECT_THAT(
      ParseOptions("--option", {"p"}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "--option: must be NAME=VALUE, got 'p'"));
  EXPECT_THAT(ParseOptions("--option", {"p=1", "p=2"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "--option p: given twice"));
}

}  // namespace
}  // namespace vernier::cli
