#include "src/core/running_time.h"

#include <algorithm>
#include <cstddef>

namespace vernier {

// An attempt that was stopped, and is not the last one, paused the trial. After the last one it may be paused still.
absl::Duration PausedTime(const Trial& trial, absl::Time now) {
  absl::Duration paused;
  for (std::size_t i = 0; i < trial.attempts.size(); ++i) {
    const Attempt& attempt = trial.attempts[i];
    if (attempt.state != AttemptState::kStopped || !attempt.ended.has_value()) continue;
    const bool is_last = i + 1 == trial.attempts.size();
    const absl::Time until = is_last ? trial.ended.value_or(now) : trial.attempts[i + 1].placed;
    paused += std::max(absl::ZeroDuration(), until - *attempt.ended);
  }
  return paused;
}

std::optional<absl::Duration> RunningTime(const Trial& trial, absl::Time now) {
  if (!trial.started.has_value()) return std::nullopt;
  const absl::Duration all = trial.ended.value_or(now) - *trial.started;
  return std::max(absl::ZeroDuration(), all - PausedTime(trial, now));
}

absl::Duration TimeTaken(const Trial& trial) {
  if (!trial.ended) return absl::ZeroDuration();
  return RunningTime(trial, *trial.ended).value_or(absl::ZeroDuration());
}

}  // namespace vernier
