#pragma once

#include <optional>

#include "absl/time/time.h"
#include "vernier/core/trial.h"

namespace vernier {

// How long the trial was paused by a stopping rule, or waited to go on after that, until its end, or until `now`.
absl::Duration PausedTime(const Trial& trial, absl::Time now);

// From the first start of the trial to its end, or to `now`, but for the time that it was paused. nullopt: it has not started.
std::optional<absl::Duration> RunningTime(const Trial& trial, absl::Time now);

// RunningTime of a trial that has ended; zero if it has not, or never started.
absl::Duration TimeTaken(const Trial& trial);

}  // namespace vernier
