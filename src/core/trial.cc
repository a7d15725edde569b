#include "vernier/core/trial.h"

#include <array>

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
constexpr std::array<std::string_view, 10> kFailureClasses = {"NONE",
                                                              "USER_ERROR",
                                                              "OUT_OF_MEMORY",
                                                              "PREEMPTED",
                                                              "NODE_LOST",
                                                              "TIMEOUT",
                                                              "NO_METRIC",
                                                              "INFEASIBLE",
                                                              "INTERNAL",
                                                              "LOST"};
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

bool IsEnded(AttemptState state) {
  return state == AttemptState::kSucceeded || state == AttemptState::kFailed ||
         state == AttemptState::kStopped || state == AttemptState::kLost;
}

}  // namespace vernier
