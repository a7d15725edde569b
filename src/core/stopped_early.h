#pragma once

#include "vernier/core/trial.h"

namespace vernier {

// Whether the trial completed because a rule or a user stopped it. Its last value is then not the value of a full run.
inline bool IsStoppedEarly(const Trial& trial) {
  return trial.state == TrialState::kCompleted && trial.stop.has_value();
}

}  // namespace vernier
