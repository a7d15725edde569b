#include "src/jobs/utilization.h"

#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier::jobs {
namespace {

using ::vernier::testing::kGiB;

TrainingJob AnyJob() {
  TrainingJob job{.command = {"train"}};
  job.replicas[Role::kPrimary].resources = {.cpus = 4, .memory_bytes = 8 * kGiB};
  job.replicas[Role::kWorker] = {.count = 1, .resources = {.cpus = 1}};
  return job;
}

Attempt AnyAttempt(absl::Duration ran) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  return {.placed = start - absl::Seconds(50),
          .started = start,
          .ended = start + ran,
          .replicas = {
              {.role = "chief", .cpu_time = absl::Seconds(60), .peak_memory_bytes = kGiB},
              {.role = "worker", .cpu_time = absl::Seconds(40), .peak_memory_bytes = 3 * kGiB}}};
}

TEST(Utilization, IsWhatWasUsedOverWhatWasAskedForAsLongAsReplicasRan) {
  Trial trial{.attempts = {AnyAttempt(absl::Seconds(40))}};
  // (60 + 40) s of (4 + 1) CPUs * 40 s; of memory, the worker asked for none.
  EXPECT_EQ(UtilizationOf(AnyJob(), trial), (Utilization{.cpus = 0.5, .memory = 0.125}));
}

TEST(Utilization, LeavesOutReplicasThatAskedForNone) {
  TrainingJob job = AnyJob();
  job.replicas[Role::kWorker].resources = {};
  Trial trial{.attempts = {AnyAttempt(absl::Seconds(40))}};
  EXPECT_EQ(UtilizationOf(job, trial).cpus, 60.0 / (4 * 40));
  job.replicas[Role::kPrimary].resources = {};
  EXPECT_EQ(UtilizationOf(job, trial), Utilization());
}

TEST(Utilization, AddsUpAttemptsAndTakesTheHighestPeak) {
  Trial trial{.attempts = {AnyAttempt(absl::Seconds(40)), AnyAttempt(absl::Seconds(120))}};
  trial.attempts[1].replicas[0].peak_memory_bytes = 6 * kGiB;
  EXPECT_EQ(UtilizationOf(AnyJob(), trial), (Utilization{.cpus = 0.25, .memory = 0.75}));
}

TEST(Utilization, IsUnknownOfWhatRunsNeverStartedOrWasNotMeasured) {
  Trial trial{.attempts = {AnyAttempt(absl::Seconds(40))}};
  trial.attempts[0].ended.reset();
  EXPECT_EQ(UtilizationOf(AnyJob(), trial), Utilization());
  trial.attempts[0] = AnyAttempt(absl::Seconds(40));
  trial.attempts[0].started.reset();
  EXPECT_EQ(UtilizationOf(AnyJob(), trial), Utilization());
  trial.attempts[0] = AnyAttempt(absl::ZeroDuration());
  trial.attempts[0].replicas = {{.role = "chief", .cpu_time = absl::Seconds(1)}};
  EXPECT_EQ(UtilizationOf(AnyJob(), trial), Utilization());
}

}  // namespace
}  // namespace vernier::jobs
