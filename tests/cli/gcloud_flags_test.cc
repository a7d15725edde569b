#include "src/cli/gcloud_flags.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;
using Json = nlohmann::ordered_json;

const char kJob[] =
    R"({"jobId": "a", "trainingOutput": {"trials": [{"trialId": "2"}, {"trialId": "1"}]}})";

struct PrintCase {
  std::string name;
  GcloudFlags flags;
  std::string printed;  // "-": left to the command.
};

class PrintTest : public ::testing::TestWithParam<PrintCase> {};

TEST_P(PrintTest, PrintsOneAnswer) {
  std::ostringstream out;
  Console console = {.out = out, .err = out};
  const std::unique_ptr<Clock> clock = NewRealClock();
  Context context(console, GlobalFlags(), *clock);
  ASSERT_OK_AND_ASSIGN(const AnswerFormat format, ReadAnswerFormat(GetParam().flags));
  const bool printed = PrintAnswer(format, Json::parse(kJob), context);
  EXPECT_EQ(printed ? out.str() : "-", GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    PrintTest,
    ::testing::Values(PrintCase{"Unset", {}, "-"},
                      PrintCase{"Default", {.format = "default"}, "-"},
                      PrintCase{"None", {.format = "none"}, ""},
                      PrintCase{"Disable", {.format = "disable"}, ""},
                      PrintCase{"Whole", {.format = "json(jobId)"}, "{\n  \"jobId\": \"a\"\n}\n"},
                      PrintCase{"KeysAlone", {.format = "(jobId)"}, "jobId: a\n"},
                      PrintCase{"TableOfTheCommand", {.format = "table"}, "-"},
                      PrintCase{
                          "Value", {.format = "value(trainingOutput.trials[].trialId)"}, "2;1\n"},
                      PrintCase{"Flattened",
                                {.format = "value(trainingOutput.trials.trialId)",
                                 .flatten = "trainingOutput.trials[]"},
                                "2\n1\n"},
                      PrintCase{"FlattenedAlone",
                                {.flatten = "trainingOutput.trials"},
                                "---\njobId: a\ntrainingOutput: {trials: {trialId: \"2\"}}\n"
                                "---\njobId: a\ntrainingOutput: {trials: {trialId: \"1\"}}\n"},
                      PrintCase{"NoOutput", {.format = "json", .user_output_enabled = false}, ""}),
    [](const auto& row) { return row.param.name; });

TEST(AnswerFormat, NamesTheFlagThatIsWrong) {
  EXPECT_THAT(ReadAnswerFormat({.format = "xml"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--format: must be one of")));
  EXPECT_THAT(ReadAnswerFormat({.flatten = "a(b"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--flatten: expected the end of the key at character 2")));
}

struct Parsed {
  GcloudFlags gcloud;
  std::string region;
  std::vector<std::string> packages;
};

Parsed Parse(const std::string& line) {
  CLI::App app;
  Parsed parsed;
  app.add_option("--region", parsed.region, "");
  AddListFlag(app, "--packages", parsed.packages, "");
  AddGcloudFlags(app, parsed.gcloud);
  app.parse(line);
  return parsed;
}

TEST(GcloudFlags, TakeTheLastOfAFlagThatIsRepeated) {
  const Parsed parsed = Parse(
      "--region a --project p --region b --packages x,y --format json --packages ^:^z:a,b "
      "--project q "
      "--verbosity info --verbosity none --format yaml");
  EXPECT_EQ(parsed.region, "b");
  EXPECT_EQ(parsed.gcloud.project, "q");
  EXPECT_EQ(parsed.gcloud.format, "yaml");
  EXPECT_THAT(parsed.packages, ElementsAre("z", "a,b"));
}

TEST(GcloudFlags, AreTakenWithoutEffect) {
  const Parsed parsed = Parse(
      "--account a --billing-project b --configuration c --impersonate-service-account s "
      "--access-token-file f --trace-token t --log-http=true --log-http -q --quiet "
      "--user-output-enabled=false");
  EXPECT_FALSE(parsed.gcloud.user_output_enabled);
}

TEST(GcloudFlags, ExplainAListThatIsNone) {
  EXPECT_THROW(
      {
        try {
          Parse("--packages ^^a");
        } catch (const CLI::ParseError& error) {
          EXPECT_THAT(error.what(),
                      HasSubstr("--packages: a separator must stand between ^ and ^"));
          throw;
        }
      },
      CLI::ParseError);
}

}  // namespace
}  // namespace vernier::cli
