#include "src/cli/gcloud/filter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::gcloud {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

const char kJob[] = R"({
  "jobId": "hp_census_7", "state": "FAILED", "createTime": "2026-11-20T12:00:00Z",
  "labels": {"owner": "Ann", "team": "vision"},
  "trainingInput": {"scaleTier": "BASIC", "workerCount": "9", "args": ["--epochs", "5"],
                    "useChiefInTfConfig": true},
  "trainingOutput": {"trials": [{"trialId": "1", "state": "FAILED", "cost": 0.25},
                                {"trialId": "2", "state": "SUCCEEDED", "cost": 10}]}})";

TimeFrame FilterFrame() {
  absl::Time now;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, "2026-11-21T06:00:00Z", &now, &error)) << error;
  return {.now = now, .zone = absl::UTCTimeZone()};
}

struct FilterCase {
  std::string text;
  bool matches;
};

class FilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(FilterTest, SelectsTheJob) {
  const Json job = Json::parse(kJob);
  ASSERT_OK_AND_ASSIGN(const Filter filter,
                       Filter::Parse("--filter", GetParam().text, FilterFrame()));
  EXPECT_EQ(filter.Matches(job), GetParam().matches) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Table,
                         FilterTest,
                         ::testing::ValuesIn(std::vector<FilterCase>{
                             {"", true},
                             // Text: contained in any case; with one star, the whole.
                             {"jobId:CENSUS", true},
                             {"jobId:hp*", true},
                             {"jobId:census*", false},
                             {"jobId:*_7", true},
                             {"jobId:hp*7", true},
                             {"jobId:hp*8", false},
                             {"jobId:*", true},
                             {"endTime:*", false},
                             {"-endTime:*", true},
                             {"NOT endTime:*", true},
                             {"state=failed", true},
                             {"state=fail", false},
                             {"state!=SUCCEEDED", true},
                             {"endTime!=x", true},
                             {"endTime=\"\"", true},
                             // Lists.
                             {"state:(FAILED CANCELLED)", true},
                             {"state:(QUEUED,CANCELLED)", false},
                             {"state:(QUEUED OR FAILED)", true},
                             {"state=(failed, queued)", true},
                             {"state!=(failed,queued)", false},
                             // Numbers, also as text.
                             {"trainingInput.workerCount>=9", true},
                             {"trainingInput.workerCount<10", true},
                             {"trainingInput.workerCount=9.0", true},
                             {"trainingInput.workerCount>\"9\"", false},
                             {"trainingInput.useChiefInTfConfig=true", true},
                             {"trainingInput.useChiefInTfConfig=false", false},
                             {"priority>3", false},
                             // Times.
                             {"createTime>2026-01-01", true},
                             {"createTime>2026-11-20T12:00:00", false},
                             {"createTime>=2026-11-20T13:00:00+01:00", true},
                             {"createTime>-P1D", true},
                             {"createTime>-PT17H", false},
                             {"createTime<-pt17h", true},
                             {"createTime > -P1W AND createTime < +P1D", true},
                             {"createTime=2026-11-20T12:00", true},
                             {"createTime:2026-11", true},
                             {"endTime<2027-01-01", false},
                             // Regular expressions.
                             {"jobId~^hp", true},
                             {"jobId ~ '^hp_.*_\\d$'", true},
                             {"jobId~census$", false},
                             {"jobId!~census", false},
                             {"jobId!~^train", true},
                             {"endTime!~.", true},
                             {"trainingInput.args~^--ep", true},
                             // Keys at any depth, in either case, through lists.
                             {"labels.owner:ann", true},
                             {"labels:owner", true},
                             {"labels:ann", true},
                             {"labels:bob", false},
                             {"training_input.scale_tier=BASIC", true},
                             {"trainingInput.args:5", true},
                             {"trainingOutput.trials.state=SUCCEEDED", true},
                             {"trainingOutput.trials[].trialId=2", true},
                             {"trainingOutput.trials[0].state=SUCCEEDED", false},
                             {"trainingOutput.trials[-1].cost>9", true},
                             {"trainingOutput:*", true},
                             {"\"labels\".owner:ann", true},
                             // Functions.
                             {"trainingOutput.trials.len()>=2", true},
                             {"jobId.upper() ~ CENSUS", true},
                             {"createTime.date(%Y)=2026", true},
                             // Words in any value.
                             {"census", true},
                             {"vision", true},
                             {"\"hp_census\"", true},
                             {"owner", false},
                             {"nowhere", false},
                             {"-nowhere", true},
                             // Logic in any case; OR binds tighter.
                             {"census AND state:FAILED", true},
                             {"census and not state:failed", false},
                             {"census state:FAILED", true},
                             {"census nowhere", false},
                             {"nowhere or census", true},
                             {"nowhere OR census AND nowhere", false},
                             {"nowhere OR (census AND vision)", true},
                             {"NOT (nowhere OR census)", false},
                             {"(census)(vision)", true},
                             {"android", false},
                             {"-(state:FAILED)", false},
                             {"  ", true},
                         }),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(Filter, SaysWhatIsWrong) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"state:", "--filter: expected a value for 'state' at character 7, got the end"},
           {"state=AND", "'state' has no value before AND"},
           {"state==FAILED", "expected one of : = != < <= > >= ~ !~ at character 6, got '='"},
           {"state:(FAILED", "expected ')' at character 14, got the end"},
           {"(state:FAILED", "expected ')' at character 14, got the end"},
           {"state:FAILED)", "expected the end at character 13, got ')'"},
           {"AND x", "expected a term at character 1, got 'A'"},
           {"x AND", "expected a term at character 6, got the end"},
           {"x OR or", "expected a term at character 6, got 'o'"},
           {"jobId:a*b*c", "at most one * may stand in a pattern, got 'a*b*c'"},
           {"jobId~(", "expected a value for 'jobId' at character 7, got '('"},
           {"jobId~'('", "'(' is no regular expression: missing ): ("},
           {"createTime>soon", "'createTime' needs a time such as 2026-11-21"},
           {"jobId:\"x", "the quote after character 6 is not closed"},
           {"jobId.shout():x", "there is no function 'shout'"},
           {"trials[0:x", "expected ']'"},
           {"jobId.len()", "expected an operator after the function"},
           {"jobId:é)", "expected the end at character 9, got ')'"},
           {std::string(40, '(') + "x", "is nested deeper than 32"},
           {std::string(9000, 'x'), "is 9000 characters long, at most 8192 are read"}}) {
    EXPECT_THAT(Filter::Parse("--filter", text, FilterFrame()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)))
        << text;
  }
}

TEST(Filter, TakesTheHeadingsOfATableForKeys) {
  const Aliases aliases = {{"STATUS", "state"}};
  ASSERT_OK_AND_ASSIGN(
      const Filter filter,
      Filter::Parse("--filter", "STATUS:failed AND x.STATUS:*", FilterFrame(), &aliases));
  EXPECT_EQ(filter.Keys(), (std::vector<Key>{{"state"}, {"x", "STATUS"}}));
  EXPECT_FALSE(filter.has_words());
}

TEST(Compare, OrdersNumbersTimesAndText) {
  const TimeFrame frame = FilterFrame();
  EXPECT_LT(Compare("9", "10", frame), 0);
  EXPECT_GT(Compare("b", "a", frame), 0);
  EXPECT_EQ(Compare(2, "2.0", frame), 0);
  EXPECT_LT(Compare("2026-11-21T04:12:13Z", "2026-11-21T04:12:13.5Z", frame), 0);
  EXPECT_GT(Compare(nullptr, "a", frame), 0);
  EXPECT_EQ(Compare(nullptr, nullptr, frame), 0);
}

}  // namespace
}  // namespace vernier::gcloud
