#pragma once

#include "vernier/core/trial.h"

namespace vernier {

// Whether the trial completed because it was told to stop, by a rule or a user: its last value is not that of a trial that
// ran to its end.
inline bool IsStoppedEarly(const Trial& trial) {
  return trial.state == TrialState::kCompleted && trial.stop.has_value();
}

}  // namespace vernier
