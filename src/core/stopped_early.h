#pragma once

#include "vernier/core/trial.h"

namespace vernier {

// Whether the trial completed because a rule or a user stopped it. Its last value is then not the value of a full run.
inline bool IsStoppedEarly(const Trial& trial) {
  return trial.state == TrialState::kCompleted && trial.stop.has_value();
}

// Whether the trial completed because a rule stopped it, not a user or the end of the study. Only a rule has a version.
inline bool IsStoppedByRule(const Trial& trial) {
  return IsStoppedEarly(trial) && !trial.stop->version.empty();
}

}  // namespace vernier
