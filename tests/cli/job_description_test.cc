#include "src/cli/job_description.h"

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

StudyRecord AnyJob() {
  StudyRecord record;
  record.study.spec.name = "census";
  record.study.spec.job = TrainingJob{.command = {"train"}};
  record.study.spec.job->replicas[Role::kPrimary].resources = {.cpus = 2, .memory_bytes = 1 << 30};
  return record;
}

TrialRecord AnyTrial() {
  TrialRecord record;
  record.trial.number = TrialNumber(1);
  record.trial.attempts = {
      {.started = absl::FromUnixSeconds(0),
       .ended = absl::FromUnixSeconds(30),
       .replicas = {
           {.role = "chief", .cpu_time = absl::Seconds(20), .peak_memory_bytes = 1 << 28}}}};
  return record;
}

TEST(JobToJson, TellsHowMuchOfWhatItAskedForAJobUsed) {
  const auto job = JobToJson(AnyJob(), {AnyTrial()});
  EXPECT_EQ(job["utilization"].dump(), R"({"cpus":0.333,"memory":0.25})");
  EXPECT_FALSE(job.contains("trainingOutput"));
}

TEST(JobToJson, TellsItOfEachTrialOfATuningJob) {
  StudyRecord tuning = AnyJob();
  tuning.study.spec.objectives = {{.metric = "loss"}};
  TrialRecord unmeasured = AnyTrial();
  unmeasured.trial.number = TrialNumber(2);
  unmeasured.trial.attempts.front().replicas.clear();
  const auto job = JobToJson(tuning, {AnyTrial(), unmeasured});
  EXPECT_FALSE(job.contains("utilization"));
  const auto& trials = job["trainingOutput"]["trials"];
  EXPECT_EQ(trials[0]["utilization"].dump(), R"({"cpus":0.333,"memory":0.25})");
  EXPECT_FALSE(trials[1].contains("utilization"));
}

TEST(UtilizationToJson, IsNothingWithoutAJob) {
  EXPECT_TRUE(UtilizationToJson(StudySpec(), AnyTrial().trial).is_null());
}

}  // namespace
}  // namespace vernier::cli
