#include "vernier/core/trial.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace vernier {
namespace {

// Each in the order of its enumeration. Stored and sent to clients: never rename one.
constexpr std::array<std::string_view, 10> kTrialStates = {"REQUESTED",
                                                           "QUEUED",
                                                           "PREPARING",
                                                           "RUNNING",
                                                           "PAUSED",
                                                           "STOPPING",
                                                           "COMPLETED",
                                                           "FAILED",
                                                           "INFEASIBLE",
                                                           "CANCELLED"};
constexpr std::array<std::string_view, 11> kFailureClasses = {"NONE",
                                                              "USER_ERROR",
                                                              "OUT_OF_MEMORY",
                                                              "PREEMPTED",
                                                              "NODE_LOST",
                                                              "TIMEOUT",
                                                              "NO_METRIC",
                                                              "INFEASIBLE",
                                                              "INTERNAL",
                                                              "LOST",
                                                              "DIVERGED"};
constexpr std::array<std::string_view, 7> kAttemptStates = {
    "PLACED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED", "LOST"};

}  // namespace

std::string_view TrialStateName(TrialState state) {
  return kTrialStates.at(static_cast<std::size_t>(state));
}

bool IsFinished(TrialState state) {
  return state == TrialState::kCompleted || state == TrialState::kFailed ||
         state == TrialState::kInfeasible || state == TrialState::kCancelled;
}

std::string_view FailureClassName(FailureClass failure) {
  return kFailureClasses.at(static_cast<std::size_t>(failure));
}

std::string_view AttemptStateName(AttemptState state) {
  return kAttemptStates.at(static_cast<std::size_t>(state));
}

ResourceUsage& operator+=(ResourceUsage& usage, const ResourceUsage& more) {
  usage.cpu_time += more.cpu_time;
  usage.gpu_time += more.gpu_time;
  // The largest of the peaks: they need not have come at the same time.
  usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, more.peak_memory_bytes);
  return usage;
}

absl::Duration GpuTime(const Attempt& attempt, absl::Time now) {
  const absl::Time end = attempt.ended.value_or(now);
  absl::Duration time;
  for (const ReplicaPlacement& replica : attempt.placement) {
    if (replica.gpus.empty()) continue;
    // From the placement on: devices of this host are held before the programs start.
    const bool is_late = replica.gpus.front() == kUnknownGpu;
    const absl::Time begin = is_late ? attempt.started.value_or(end) : attempt.placed;
    time += std::ssize(replica.gpus) * std::max(absl::ZeroDuration(), end - begin);
  }
  return time;
}

ResourceUsage UsageOf(const Attempt& attempt) {
  ResourceUsage usage;
  if (!attempt.ended.has_value()) return usage;
  usage.gpu_time = GpuTime(attempt, *attempt.ended);
  for (const ReplicaResult& replica : attempt.replicas) {
    // GPU time is of the attempt, which holds all its devices until the last replica is down.
    usage += {.cpu_time = replica.cpu_time,
              .gpu_time = absl::ZeroDuration(),
              .peak_memory_bytes = replica.peak_memory_bytes};
  }
  return usage;
}

ResourceUsage UsageOf(const Trial& trial) {
  ResourceUsage usage;
  for (const Attempt& attempt : trial.attempts) usage += UsageOf(attempt);
  return usage;
}

bool IsEnded(AttemptState state) {
  return state == AttemptState::kSucceeded || state == AttemptState::kFailed ||
         state == AttemptState::kStopped || state == AttemptState::kLost;
}

}  // namespace vernier
