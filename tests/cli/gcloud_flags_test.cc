#include "src/cli/gcloud_flags.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;
using Json = nlohmann::ordered_json;

const char kJob[] = R"({"jobId": "a", "trainingInput": {"workerCount": "9", "args": ["x", "y"]},
                        "trainingOutput": {"trials": [{"trialId": "2"}, {"trialId": "1"}]}})";

struct PrintCase {
  std::string name;
  std::string format;
  std::string answer;
  std::string printed;  // "-": left to the command.
};

class PrintTest : public ::testing::TestWithParam<PrintCase> {};

TEST_P(PrintTest, PrintsWhatTheKeysName) {
  std::ostringstream out;
  std::ostringstream err;
  Console console = {.out = out, .err = err};
  Output output(console, {});
  ASSERT_OK_AND_ASSIGN(const Projection projection, ParseFormatFlag(GetParam().format));
  const bool printed = PrintProjected(projection, Json::parse(GetParam().answer), output);
  EXPECT_EQ(printed ? out.str() : "-", GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    PrintTest,
    ::testing::Values(
        PrintCase{"Unset", "", kJob, "-"},
        PrintCase{"Default", "default", kJob, "-"},
        PrintCase{"Whole", "json", kJob, "-"},
        PrintCase{"None", "none", kJob, ""},
        PrintCase{"Disable", "disable", kJob, ""},
        PrintCase{"Value", "value(jobId)", kJob, "a\n"},
        PrintCase{"Values", "value(jobId, trainingInput.workerCount)", kJob, "a\t9\n"},
        PrintCase{"Element", "value(trainingOutput.trials[1].trialId)", kJob, "1\n"},
        PrintCase{"Structure", "value(trainingInput.args)", kJob, "[\"x\",\"y\"]\n"},
        PrintCase{"Absent", "value(endTime,jobId)", kJob, "\ta\n"},
        PrintCase{"NotInAText", "value(jobId.x)", kJob, "\n"},
        PrintCase{"NoPlaceInAList", "value(trainingOutput.trials.first)", kJob, "\n"},
        PrintCase{"NoSuchElement", "value(trainingOutput.trials[7].trialId)", kJob, "\n"},
        PrintCase{"List", "value(jobId)", R"([{"jobId": "a"}, {"jobId": "b"}])", "a\nb\n"},
        PrintCase{"Csv", "csv(jobId,state)", kJob, "jobId,state\na,\n"},
        PrintCase{"CsvBare", "csv[no-heading](jobId,state)", kJob, "a,\n"},
        PrintCase{"Table", "table(jobId)", kJob, "JOB_ID\na\n"},
        PrintCase{"Yaml", "yaml(jobId,state)", kJob, "jobId: a\n"},
        PrintCase{"JsonOfMany", "json(jobId)", "[]", "[]\n"}),
    [](const auto& row) { return row.param.name; });

TEST(FormatFlag, WholeAnswersTakeTheFormatOfTheOutput) {
  std::ostringstream out;
  Console console = {.out = out, .err = out};
  Output output(console, {});
  ASSERT_OK_AND_ASSIGN(const Projection projection, ParseFormatFlag("json"));
  EXPECT_FALSE(PrintProjected(projection, Json::object(), output));
  EXPECT_EQ(output.format(), Format::kJson);
}

TEST(FormatFlag, ExplainsWhatItDoesNotKnow) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"xml", "must be one of json, yaml, csv, table, value, none, got 'xml'"},
           {"value", "value needs keys"},
           {"value()", "a key must be a name"},
           {"json(jobId", "must be as csv(jobId,state)"},
           {"json(jobId)x", "must be as csv(jobId,state)"},
           {"table[box](jobId)", "must be as csv(jobId,state)"},
           {"json(createTime.date())", "got 'createTime.date()'"},
           {"(jobId)", "must be one of"}}) {
    EXPECT_THAT(ParseFormatFlag(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)))
        << text;
  }
}

}  // namespace
}  // namespace vernier::cli
