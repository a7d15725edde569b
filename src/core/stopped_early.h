#pragma once

#include <string_view>

#include "vernier/core/trial.h"

namespace vernier {

// StopRecord::rule of a trial that a user stopped.
inline constexpr std::string_view kStoppedByUser = "user";

// Whether the trial completed because a rule or a user stopped it. Its last value is then not the value of a full run.
inline bool IsStoppedEarly(const Trial& trial) {
  return trial.state == TrialState::kCompleted && trial.stop.has_value();
}

// Whether the trial completed because a rule stopped it.
inline bool IsStoppedByRule(const Trial& trial) {
  return IsStoppedEarly(trial) && trial.stop->rule != kStoppedByUser;
}

}  // namespace vernier
