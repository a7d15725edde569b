#include "src/cli/job_list.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::ordered_json;

const gcloud::TimeFrame kFrame = {.now = absl::UnixEpoch(), .zone = absl::UTCTimeZone()};

JobSelection Selection(const JobQuery& query, const GcloudFlags& flags = {}) {
  const auto format = ReadAnswerFormat(flags, &JobAliases());
  return ReadJobQuery(query, *format, kFrame).value();
}

std::vector<Json> Jobs() {
  return {
      {{"jobId", "a"}, {"state", "FAILED"}, {"createTime", "2026-11-21T04:00:00Z"}},
      {{"jobId", "c"}, {"state", "QUEUED"}, {"createTime", "2026-11-21T04:00:00.5Z"}},
      {{"jobId", "b"}, {"state", "FAILED"}, {"createTime", "2026-11-20T04:00:00Z"}, {"n", {1, 2}}}};
}

std::string Selected(const JobQuery& query, const GcloudFlags& flags = {}) {
  std::string ids;
  for (const Json& job : SelectJobs(Jobs(), Selection(query, flags), kFrame).jobs) {
    ids += job["jobId"].get<std::string>();
  }
  return ids;
}

TEST(SelectJobs, IsNewestFirstUnlessItIsSorted) {
  EXPECT_EQ(Selected({}), "cab");
  EXPECT_EQ(Selected({.limit = 2}), "ca");
  EXPECT_EQ(Selected({.sort = {"name"}}), "abc");
  EXPECT_EQ(Selected({.sort = {"STATUS"}}), "abc");
  EXPECT_EQ(Selected({.sort = {"none"}}), "cab");
  EXPECT_EQ(Selected({.filter = "STATUS:failed", .limit = 1}), "a");
  EXPECT_EQ(Selected({.filter = "n=2"}, {.flatten = "n[]"}), "b");
}

TEST(SelectJobs, WarnsOfKeysAndStatesThatThereAreNot) {
  const auto warnings = [](const JobQuery& query) {
    return SelectJobs(Jobs(), Selection(query), kFrame).warnings;
  };
  EXPECT_THAT(warnings({.filter = "state:FAIL* OR state!=queued", .sort = {"n"}}), ElementsAre());
  EXPECT_THAT(warnings({.filter = "colour=red state:(DONE FAILED)", .sort = {"size"}}),
              ElementsAre("--filter: no job's state is ever 'DONE'; states are QUEUED, PREPARING, "
                          "RUNNING, SUCCEEDED, FAILED, CANCELLING, CANCELLED",
                          "--filter: no job has 'colour'",
                          "--sort-by: no job has 'size'"));
}

TEST(ReadJobQuery, AsksForTrialsOnlyWhereTheyMatter) {
  EXPECT_FALSE(Selection({}).needs_trials);
  EXPECT_FALSE(
      Selection({.filter = "labels.a:b trainingInput.scaleTier=BASIC", .sort = {"CREATED"}})
          .needs_trials);
  EXPECT_FALSE(Selection({}, {.format = "value(jobId,state)"}).needs_trials);
  EXPECT_FALSE(Selection({}, {.format = "table"}).needs_trials);
  EXPECT_TRUE(Selection({.filter = "endTime:*"}).needs_trials);
  EXPECT_TRUE(Selection({.filter = "census"}).needs_trials);
  EXPECT_TRUE(Selection({.sort = {"startTime"}}).needs_trials);
  EXPECT_TRUE(Selection({}, {.format = "json"}).needs_trials);
  EXPECT_TRUE(Selection({}, {.format = "value(trainingOutput.trials.trialId)"}).needs_trials);
  EXPECT_TRUE(Selection({}, {.flatten = "trainingOutput.trials[]"}).needs_trials);
}

}  // namespace
}  // namespace vernier::cli
