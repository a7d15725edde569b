#include "vernier/core/trial.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace vernier {
namespace {

// Each in the order of its enumeration.
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
  usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, more.peak_memory_bytes);
  return usage;
}

absl::Duration GpuTime(const Attempt& attempt, absl::Time now) {
  std::int64_t gpus = 0;
  for (const ReplicaPlacement& replica : attempt.placement) gpus += std::ssize(replica.gpus);
  return gpus * std::max(absl::ZeroDuration(), attempt.ended.value_or(now) - attempt.placed);
}

ResourceUsage UsageOf(const Attempt& attempt) {
  ResourceUsage usage;
  if (!attempt.ended.has_value()) return usage;
  usage.gpu_time = GpuTime(attempt, *attempt.ended);
  for (const ReplicaResult& replica : attempt.replicas) {
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
