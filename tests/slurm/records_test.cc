#include "src/launch/slurm/records.h"

#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/slurm/slurm_sample.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

const JobRecord* Find(const std::vector<JobRecord>& jobs, std::int64_t id) {
  for (const JobRecord& job : jobs) {
    if (job.id == id) return &job;
  }
  return nullptr;
}

class JobSampleTest : public ::testing::TestWithParam<const char*> {};

// Both generations of the JSON tell the same history.
TEST_P(JobSampleTest, IsRead) {
  const auto jobs = ParseJobs(::vernier::testing::SlurmSample(GetParam()));
  ASSERT_THAT(jobs, IsOk());
  const JobRecord* const chief = Find(*jobs, 1);
  const JobRecord* const workers = Find(*jobs, 2);
  ASSERT_TRUE(chief != nullptr && workers != nullptr);
  EXPECT_EQ(chief->leader, 1);
  EXPECT_EQ(workers->leader, 1);
  EXPECT_EQ(chief->comment, "vernier /shared/a b/trial-1/attempt-1");
  EXPECT_EQ(workers->state, JobState::kRunning);
  EXPECT_EQ(workers->nodes, "n[2-3]");
  EXPECT_EQ(workers->started, absl::FromUnixSeconds(1795623168));

  const JobRecord* const failed = Find(*jobs, 3);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->leader, 3);
  EXPECT_EQ(failed->state, JobState::kFailed);
  EXPECT_EQ(failed->exit_code, 7);
  EXPECT_EQ(failed->signal, 0);
  EXPECT_EQ(failed->reason, "NonZeroExitCode");

  const JobRecord* const crashed = Find(*jobs, 4);
  ASSERT_NE(crashed, nullptr);
  EXPECT_EQ(crashed->signal, 11);
  EXPECT_EQ(crashed->exit_code, 0);

  const JobRecord* const waits = Find(*jobs, 6);
  ASSERT_NE(waits, nullptr);
  EXPECT_EQ(waits->state, JobState::kPending);
  EXPECT_EQ(waits->reason, "PartitionNodeLimit");
  EXPECT_EQ(waits->started, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Generations,
                         JobSampleTest,
                         ::testing::Values("squeue_22_05.json", "squeue_24_05.json"),
                         [](const auto& sample) {
                           return std::string(sample.param).substr(0, 12);
                         });

TEST(ParseJobs, AStateMayHaveFlags) {
  const auto jobs = ParseJobs(::vernier::testing::SlurmSample("squeue_24_05.json"));
  ASSERT_THAT(jobs, IsOk());
  EXPECT_TRUE(Find(*jobs, 3)->is_completing);
  EXPECT_FALSE(Find(*jobs, 4)->is_completing);
  EXPECT_TRUE(IsOver(Find(*jobs, 3)->state));
  EXPECT_FALSE(IsOver(Find(*jobs, 6)->state));
}

TEST(ParseJobs, SaysWhatIsWrong) {
  for (const char* text : {"", "{", "[]", "{\"jobs\": 3}", "{\"nodes\": []}"}) {
    EXPECT_THAT(ParseJobs(text).status(), StatusIs(absl::StatusCode::kFailedPrecondition)) << text;
  }
  const auto refused = ParseJobs(
      R"({"errors": [{"error": "Unable to contact slurm controller", "error_number": 1}], "jobs": []})");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Unable to contact")));
  // As squeue has it on its output, and ends well, while the controller is down.
  EXPECT_THAT(ParseJobs(::vernier::testing::SlurmSample("rest_no_token_22_05.json")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Unspecified error")));
  EXPECT_THAT(ParseJobs(::vernier::testing::SlurmSample("rest_refused_22_05.json")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Invalid partition name")));
}

// A job that is missing from an answer counts as forgotten.
TEST(ParseJobs, AnAnswerThatWasCutOffIsNone) {
  const std::string whole = ::vernier::testing::SlurmSample("squeue_22_05.json");
  const std::size_t end = whole.rfind('}');
  for (std::size_t length = 0; length <= end; length += length < 3000 ? 1 : 97) {
    EXPECT_THAT(ParseJobs(whole.substr(0, length)).status(),
                StatusIs(absl::StatusCode::kFailedPrecondition))
        << length;
  }
  EXPECT_THAT(ParseJobs(whole.substr(0, end + 1)), IsOk());
  EXPECT_THAT(ParseJobs(whole + "}").status(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ParseJobs, PassesOverWhatItDoesNotKnow) {
  const auto jobs =
      ParseJobs(R"( {"a": {"jobs": [{"job_id": 1}]}, "b": "}]\"{", "c": [[], {}, -1.5e3 , null],
      "jobs" : [ {"x": "\\", "comment": "a \"b\" \u00e9 ]}", "deep": [{"job_id": 2}, {"x": {"job_id": 9}}],
                  "job_id" : 3 }, {"job_id": 4, "end_time": {"set": true, "x": 1, "number": 5}}],
      "meta": null} )");
  ASSERT_THAT(jobs, IsOk());
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].id, 3);
  EXPECT_EQ((*jobs)[0].comment, "a \"b\" \u00e9 ]}");
  EXPECT_EQ((*jobs)[1].id, 4);
  EXPECT_EQ((*jobs)[1].ended, absl::FromUnixSeconds(5));
}

TEST(ParseJobs, UnknownStatesAndMissingKeysAreNoError) {
  const auto jobs = ParseJobs(R"({"jobs": [{"job_id": 5, "job_state": "TELEPORTED"}, {}]})");
  ASSERT_THAT(jobs, IsOk());
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].state, JobState::kUnknown);
  EXPECT_FALSE(IsOver((*jobs)[0].state));
}

TEST(ParseNodes, CountsWhatIsFree) {
  const auto nodes = ParseNodes(::vernier::testing::SlurmSample("sinfo_22_05.json"));
  ASSERT_THAT(nodes, IsOk());
  ASSERT_EQ(nodes->size(), 4U);
  const NodeRecord& first = (*nodes)[0];
  EXPECT_EQ(first.name, "n1");
  EXPECT_EQ(first.cpus, 8);
  EXPECT_EQ(first.free_cpus, 7);
  EXPECT_EQ(first.memory_bytes, std::int64_t{4000} << 20);
  EXPECT_EQ(first.free_memory_bytes, std::int64_t{3900} << 20);
  EXPECT_THAT(first.gpus, ElementsAre(Pair("v100", NodeRecord::Gpus{.count = 4, .used = 1})));
  EXPECT_TRUE(first.is_usable);
  const NodeRecord& broken = (*nodes)[3];
  EXPECT_FALSE(broken.is_usable);
  EXPECT_EQ(broken.state, "down");
  EXPECT_EQ(broken.reason, "broken fan");
}

TEST(ParseNodes, ReadsTheNewerForm) {
  const auto nodes = ParseNodes(::vernier::testing::SlurmSample("nodes_24_05.json"));
  ASSERT_THAT(nodes, IsOk());
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_THAT((*nodes)[0].gpus, ElementsAre(Pair("v100", NodeRecord::Gpus{.count = 4, .used = 1})));
  EXPECT_FALSE((*nodes)[1].is_usable);
  EXPECT_THAT((*nodes)[1].gpus,
              ElementsAre(Pair("", NodeRecord::Gpus{.count = 2, .used = 1}),
                          Pair("a100", NodeRecord::Gpus{.count = 2, .used = 0})));
  EXPECT_THAT((*nodes)[1].partitions, ElementsAre("main", "big"));
}

}  // namespace
}  // namespace vernier::launch::slurm
