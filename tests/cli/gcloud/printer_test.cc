#include "src/cli/gcloud/printer.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::gcloud {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

std::vector<Json> Jobs() {
  return {Json::parse(R"({"jobId": "a", "state": "FAILED", "n": 9, "args": ["x, y", "z"],
                          "labels": {"team": "v", "owner": "ann"},
                          "out": {"trials": [{"id": "2", "lr": 0.5}, {"id": "1"}]}})"),
          Json::parse(R"({"jobId": "bb", "state": "QUEUED", "n": 10, "message": "two\nlines"})")};
}

struct PrintCase {
  std::string format;
  std::string printed;
};

class PrinterTest : public ::testing::TestWithParam<PrintCase> {};

TEST_P(PrinterTest, PrintsAList) {
  std::ostringstream out;
  cli::Console console = {.out = out, .err = out};
  ASSERT_OK_AND_ASSIGN(const FormatSpec format, ParseFormat("--format", GetParam().format));
  Print(format,
        Jobs(),
        {.is_list = true},
        {.now = absl::UnixEpoch(), .zone = absl::UTCTimeZone()},
        console);
  EXPECT_EQ(out.str(), GetParam().printed) << GetParam().format;
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    PrinterTest,
    ::testing::ValuesIn(std::vector<PrintCase>{
        {"value(jobId)", "a\nbb\n"},
        {"get(jobId, n)", "a\t9\nbb\t10\n"},
        {"value[separator=' ',terminator=;](jobId,state)", "a FAILED;bb QUEUED;"},
        {"value(args)", "x, y;z\n\n"},
        {"value[delimiter=|](args)", "x, y|z\n\n"},
        {"value(labels)", "owner=ann;team=v\n\n"},
        {"value(out.trials[0].id, out.trials[].id, out.trials.lr)", "2\t2;1\t0.5\n\t\t\n"},
        {"value(.)",
         R"(args=["x, y","z"];jobId=a;labels={"team":"v","owner":"ann"};n=9;)"
         R"(out={"trials":[{"id":"2","lr":0.5},{"id":"1"}]};state=FAILED)"
         "\njobId=bb;message=two\nlines;n=10;state=QUEUED\n"},
        {"csv(jobId,state:label=STATUS,args)",
         "job_id,status,args\na,FAILED,\"x, y\";z\nbb,QUEUED,\n"},
        {"csv[no-heading](jobId,message)", "a,\nbb,\"two\nlines\"\n"},
        {"table(jobId,state:label=STATUS)", "JOB_ID  STATUS\na       FAILED\nbb      QUEUED\n"},
        {"table(jobId,out.jobId,endTime:optional)", "JOB_ID  OUT_JOB_ID\na\nbb\n"},
        {"table[no-heading](n:align=right)", " 9\n10\n"},
        {"table(jobId:sort=1:reverse)", "JOB_ID\nbb\na\n"},
        {"table(n:sort=1:reverse,jobId)", "N   JOB_ID\n10  bb\n9   a\n"},
        {"table[title=Jobs](jobId:width=8)", "  Jobs\nJOB_ID\na\nbb\n"},
        {"table[box,ascii](jobId)",
         "+--------+\n| JOB_ID |\n+--------+\n| a      |\n| bb     |\n+--------+\n"},
        {"table[all-box](jobId:label='')",
         "┌────┐\n│    │\n├────┤\n│ a  │\n├────┤\n│ bb │\n└────┘\n"},
        {"table[box,title=T](jobId)",
         "┌────────┐\n│   T    │\n├────────┤\n│ JOB_ID │\n├────────┤\n│ a      │\n│ bb     "
         "│\n└────────┘\n"},
        {"json(jobId,out.trials[].id)",
         "[\n  {\n    \"jobId\": \"a\",\n    \"out\": {\n      \"trials\": [\n        {\n"
         "          \"id\": \"2\"\n        },\n        {\n          \"id\": \"1\"\n        }\n"
         "      ]\n    }\n  },\n  {\n    \"jobId\": \"bb\"\n  }\n]\n"},
        {"yaml(jobId,out.trials[1].id,state.lower())",
         "---\njobId: a\nout:\n  trials: [{id: \"1\"}]\nstate: failed\n---\njobId: bb\nstate: "
         "queued\n"},
        {"list(jobId,state)", " - a\n   FAILED\n - bb\n   QUEUED\n"},
        {"list[compact,title=Jobs](jobId,state)", "Jobs\n - a FAILED\n - bb QUEUED\n"},
        {"flattened(jobId,args,message)",
         "---\nargs[0]: x, y\nargs[1]: z\njob_id:  a\n---\njob_id:  bb\nmessage: "
         "\"two\\nlines\"\n"},
        {"text[no-pad](jobId:label=ID,labels)",
         "---\nid: a\nlabels.owner: ann\nlabels.team: v\n---\nid: bb\n"},
        {"config(jobId,labels)", "jobId = a\n[labels]\nowner = ann\nteam = v\njobId = bb\n"},
    }),
    [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(Printer, OneResourceIsNoList) {
  std::ostringstream out;
  cli::Console console = {.out = out, .err = out};
  const TimeFrame frame = {.now = absl::UnixEpoch(), .zone = absl::UTCTimeZone()};
  for (const char* format : {"json(jobId)", "yaml(jobId)", "flattened(jobId)"}) {
    ASSERT_OK_AND_ASSIGN(const FormatSpec spec, ParseFormat("--format", format));
    Print(spec, {Jobs().front()}, {.is_list = false}, frame, console);
  }
  EXPECT_EQ(out.str(), "{\n  \"jobId\": \"a\"\n}\njobId: a\njob_id: a\n");
}

TEST(Printer, WrapsColumnsThatAskForIt) {
  std::ostringstream out;
  cli::Console console = {.out = out, .err = out, .width = 24};
  ASSERT_OK_AND_ASSIGN(const FormatSpec format, ParseFormat("--format", "table(id,text:wrap)"));
  Print(format,
        {Json{{"id", "1"}, {"text", "words that take more than a line"}}},
        {.is_list = true},
        {.now = absl::UnixEpoch(), .zone = absl::UTCTimeZone()},
        console);
  EXPECT_EQ(out.str(), "ID  TEXT\n1   words that take more\n    than a line\n");
}

TEST(ParseFormat, SaysWhatIsWrong) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"xml", "--format: must be one of json, yaml, csv"},
           {"value", "value needs keys"},
           {"value()", "value needs keys"},
           {"json(jobId", "expected ',' or ')' after a key at character 11, got the end"},
           {"json(jobId)x", "expected '[', '(' or the end"},
           {"table[box", "expected ']' at character 10, got the end"},
           {"table(jobId:colour=red)", "a key has no attribute 'colour'; known: align, label"},
           {"table(jobId:label)", "the attribute 'label' needs a value"},
           {"table(jobId:align=up)", "align must be left, center or right, got 'up'"},
           {"table(jobId:sort=x)", "sort must be a whole number from 1 to 10000, got 'x'"},
           {"table(jobId.shout())", "there is no function 'shout'"},
           {"table(a b)", "expected ',' or ')' after a key at character 9, got 'b'"},
           {"table(,)", "expected a key such as jobId"}}) {
    EXPECT_THAT(ParseFormat("--format", text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)))
        << text;
  }
}

TEST(ParseFormat, TakesHeadingsForKeysAndMakesThemDiffer) {
  const Aliases aliases = {{"STATUS", "state"}};
  ASSERT_OK_AND_ASSIGN(
      const FormatSpec format,
      ParseFormat("--format", "table(STATUS, a.name, b.name, GPUCount)", &aliases));
  std::vector<std::string> labels;
  for (const FormatColumn& column : format.columns) labels.push_back(column.label);
  EXPECT_THAT(labels, ::testing::ElementsAre("STATE", "NAME", "B_NAME", "GPU_COUNT"));
}

}  // namespace
}  // namespace vernier::gcloud
