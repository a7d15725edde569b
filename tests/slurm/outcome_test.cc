#include "src/launch/slurm/outcome.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::launch::slurm {
namespace {

using ::testing::HasSubstr;

struct EndRow {
  const char* name;
  std::vector<JobState> components;
  FailureClass failure;
  bool transient;
  const char* says;
};

class EndTest : public ::testing::TestWithParam<EndRow> {};

TEST_P(EndTest, HasAClassAndASentence) {
  std::vector<JobRecord> components;
  for (const JobState state : GetParam().components) {
    components.push_back(
        {.id = std::ssize(components) + 7, .leader = 7, .state = state, .nodes = "n1"});
  }
  const Outcome outcome = ExplainEnd(components);
  EXPECT_EQ(outcome.failure, GetParam().failure);
  EXPECT_EQ(outcome.transient, GetParam().transient);
  EXPECT_THAT(outcome.message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    EndTest,
    ::testing::Values(
        EndRow{"Forgotten", {}, FailureClass::kNodeLost, true, "forgotten"},
        EndRow{"NodeFail",
               {JobState::kNodeFail},
               FailureClass::kNodeLost,
               true,
               "a node of it failed (job 7 on n1)"},
        EndRow{"OtherComponentsAreCancelled",
               {JobState::kCancelled, JobState::kNodeFail},
               FailureClass::kNodeLost,
               true,
               "a node of it failed"},
        EndRow{"BootFail", {JobState::kBootFail}, FailureClass::kNodeLost, true, "boot"},
        EndRow{"Preempted", {JobState::kPreempted}, FailureClass::kPreempted, true, "preempted"},
        EndRow{"Timeout", {JobState::kTimeout}, FailureClass::kTimeout, false, "limits.time"},
        EndRow{"Deadline", {JobState::kDeadline}, FailureClass::kTimeout, false, "deadline"},
        EndRow{
            "OutOfMemory", {JobState::kOutOfMemory}, FailureClass::kOutOfMemory, false, "memory"},
        EndRow{"Cancelled", {JobState::kCancelled}, FailureClass::kInternal, true, "cancelled"},
        EndRow{"Failed", {JobState::kFailed}, FailureClass::kInternal, true, "failed in Slurm"},
        EndRow{
            "Completed", {JobState::kCompleted}, FailureClass::kNodeLost, true, "left no record"}),
    [](const auto& row) { return row.param.name; });

TEST(WhyNever, IsSaidOfJobsThatWaitForEver) {
  const JobRecord waits{.state = JobState::kPending, .reason = "PartitionTimeLimit"};
  EXPECT_THAT(WhyNever(waits).value_or(""), HasSubstr("time limit is longer"));
  EXPECT_EQ(WhyNever({.state = JobState::kPending, .reason = "Resources"}), std::nullopt);
  EXPECT_EQ(WhyNever({.state = JobState::kRunning, .reason = "PartitionTimeLimit"}), std::nullopt);
}

TEST(ExplainWait, KeepsSlurmsOwnWord) {
  EXPECT_EQ(ExplainWait("Priority"), "jobs of a higher priority are before it (Slurm: Priority)");
  EXPECT_EQ(
      ExplainWait("ReqNodeNotAvail, UnavailableNodes:n1"),
      "nodes that it needs are down or reserved (Slurm: ReqNodeNotAvail, UnavailableNodes:n1)");
  EXPECT_EQ(ExplainWait("Teleporter"), "Slurm: Teleporter");
  EXPECT_EQ(ExplainWait("None"), "Slurm has not looked at it yet");
}

}  // namespace
}  // namespace vernier::launch::slurm
