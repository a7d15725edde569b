#include "src/cli/gcloud/records.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::gcloud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

const TimeFrame kFrame = {.now = absl::UnixEpoch(), .zone = absl::UTCTimeZone()};

std::string SortedIds(const std::vector<std::string>& fields) {
  std::vector<Json> jobs = {
      {{"id", "a"}, {"n", "10"}, {"t", {3}}}, {{"id", "b"}}, {{"id", "c"}, {"n", "9"}, {"t", {1}}}};
  const auto keys = ParseSort("--sort-by", fields);
  EXPECT_TRUE(keys.ok());
  Sort(*keys, kFrame, jobs);
  std::string ids;
  for (const Json& job : jobs) ids += job["id"].get<std::string>();
  return ids;
}

TEST(Sort, OrdersByValueAndPutsMissingOnesLast) {
  EXPECT_EQ(SortedIds({"n"}), "cab");
  EXPECT_EQ(SortedIds({"~n"}), "acb");
  EXPECT_EQ(SortedIds({"-id"}), "cba");
  EXPECT_EQ(SortedIds({"t[]"}), "cab");
  EXPECT_EQ(SortedIds({"none", "~id"}), "cba");
  EXPECT_EQ(SortedIds({}), "abc");
  EXPECT_THAT(ParseSort("--sort-by", {"~"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--sort-by: expected a key")));
}

TEST(Flatten, MakesARecordOfEachElement) {
  const Json job = Json::parse(
      R"({"id": "a", "out": {"trials": [{"n": 1, "x": [1, 2]}, {"n": 2, "x": [3]}]}, "e": []})");
  const auto flat = [&](const std::vector<std::string>& keys) {
    std::string text;
    const auto parsed = ParseFlatten("--flatten", keys);
    EXPECT_TRUE(parsed.ok());
    for (const Json& record : Flatten(*parsed, {job})) text += record["out"].dump();
    return text;
  };
  EXPECT_EQ(flat({"out.trials[]"}), R"({"trials":{"n":1,"x":[1,2]}}{"trials":{"n":2,"x":[3]}})");
  EXPECT_EQ(flat({"out.trials"}), flat({"out.trials[]"}));
  EXPECT_EQ(flat({"out.trials[].x[]"}),
            R"({"trials":{"n":1,"x":1}}{"trials":{"n":1,"x":2}}{"trials":{"n":2,"x":3}})");
  EXPECT_EQ(flat({"none[]"}), job["out"].dump());
  EXPECT_EQ(flat({"e[]"}), "");
}

TEST(MissingKeys, NamesThoseThatNoResourceHas) {
  EXPECT_THAT(MissingKeys({{"a"}, {"b", "c"}, {"d"}}, {Json{{"a", 1}}, Json{{"d", 2}}}),
              ElementsAre("b.c"));
}

TEST(SplitList, TakesAnotherSeparator) {
  const auto parts = [](const char* text) { return SplitList("--packages", text).value(); };
  EXPECT_THAT(parts("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(parts("^:^a,b:c"), ElementsAre("a,b", "c"));
  EXPECT_THAT(parts("^--^a-,b--c"), ElementsAre("a-,b", "c"));
  EXPECT_THAT(parts("^a,b"), ElementsAre("^a", "b"));
  EXPECT_THAT(parts("^,^^a,b"), ElementsAre("^a", "b"));
  EXPECT_THAT(parts("a^:^b,c"), ElementsAre("a^:^b", "c"));
  EXPECT_THAT(parts(""), ElementsAre());
  EXPECT_THAT(SplitList("--packages", "^^a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--packages: a separator")));
}

}  // namespace
}  // namespace vernier::gcloud
