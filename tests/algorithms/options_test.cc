#include "algorithms/options.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

TEST(OptionReader, FillsInDefaultsAndSortsItsJson) {
  const Choice choice = {.name = "gp", .options = {{"restarts", std::int64_t{7}}}};
  OptionReader reader("algorithm", choice);
  EXPECT_EQ(reader.Text("kernel", "matern", {"matern", "rbf"}), "matern");
  EXPECT_EQ(reader.Int("restarts", 4, 1, 100), 7);
  EXPECT_EQ(reader.Float("noise", 0.1, 0, 1), 0.1);
  EXPECT_FALSE(reader.Bool("warp", false));
  EXPECT_EQ(reader.OptionalInt("seed", 0, 10), std::nullopt);
  EXPECT_THAT(reader.Check(), IsOk());
  EXPECT_EQ(reader.Json(),
            R"({"kernel":"matern","noise":0.1,"restarts":7,"seed":null,"warp":false})");
}

TEST(OptionReader, TakesWholeFloatsForIntegersAndIntegersForFloats) {
  const Choice choice = {.name = "gp", .options = {{"n", 5.0}, {"x", std::int64_t{2}}}};
  OptionReader reader("algorithm", choice);
  EXPECT_EQ(reader.Int("n", 1, 0, 10), 5);
  EXPECT_EQ(reader.Float("x", 1, 0, 10), 2.0);
  EXPECT_THAT(reader.Check(), IsOk());
}

TEST(OptionReader, NamesAnUnknownOptionAndTheNearestKnown) {
  const Choice choice = {.name = "gp", .options = {{"restart", std::int64_t{5}}}};
  OptionReader reader("algorithm", choice);
  reader.Int("restarts", 1, 0, 10);
  EXPECT_THAT(reader.Check(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm.restart: gp has no such option; did you mean 'restarts'?"));
  EXPECT_EQ(GetField(reader.Check()), "algorithm.restart");
}

struct BadOption {
  std::string name;
  ParameterValue value;
  std::string error;
};
class OptionReaderRefuses : public ::testing::TestWithParam<BadOption> {};

TEST_P(OptionReaderRefuses, WithOneSentence) {
  const Choice choice = {.name = "gp", .options = {{GetParam().name, GetParam().value}}};
  OptionReader reader("algorithm", choice);
  EXPECT_EQ(reader.Int("count", 3, 1, 10), 3);
  EXPECT_EQ(reader.Float("real", 0.5, 0, 1), 0.5);
  EXPECT_EQ(reader.FloatAbove("positive", 0.5, 0, 1), 0.5);
  EXPECT_TRUE(reader.Bool("flag", true));
  EXPECT_EQ(reader.Text("text", "a", {"a", "b"}), "a");
  EXPECT_THAT(reader.Check(), StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    OptionReaderRefuses,
    ::testing::Values(
        BadOption{"count",
                  std::int64_t{0},
                  "algorithm.count: must be a whole number from 1 to 10, got 0"},
        BadOption{"count", 2.5, "algorithm.count: must be a whole number from 1 to 10, got 2.5"},
        BadOption{"count", true, "algorithm.count: must be a whole number from 1 to 10, got true"},
        BadOption{"real", 1.5, "algorithm.real: must be a number from 0 to 1, got 1.5"},
        BadOption{"real",
                  std::numeric_limits<double>::quiet_NaN(),
                  "algorithm.real: must be a number from 0 to 1, got nan"},
        BadOption{"real", std::string("x"), "algorithm.real: must be a number from 0 to 1, got x"},
        BadOption{
            "positive", 0.0, "algorithm.positive: must be a number above 0 and at most 1, got 0"},
        BadOption{
            "positive", 1.5, "algorithm.positive: must be a number above 0 and at most 1, got 1.5"},
        BadOption{"positive",
                  std::numeric_limits<double>::quiet_NaN(),
                  "algorithm.positive: must be a number above 0 and at most 1, got nan"},
        BadOption{"flag", std::int64_t{1}, "algorithm.flag: must be true or false, got 1"},
        BadOption{"text", std::string("c"), "algorithm.text: must be one of a, b, got c"},
        BadOption{"text", std::int64_t{1}, "algorithm.text: must be one of a, b, got 1"}));

}  // namespace
}  // namespace vernier
