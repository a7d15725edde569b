#include "src/engine/job_rules.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"

namespace vernier::engine {
namespace {

bool IsOver(const std::optional<absl::Duration>& limit, absl::Time since, absl::Time now) {
  return limit.has_value() && now - since >= *limit;
}

// Since when the running attempt has reported nothing.
absl::Time LastProgress(const Trial& trial, const Attempt& attempt) {
  const absl::Time started = *attempt.started;
  return trial.last.has_value() ? std::max(started, trial.last->time) : started;
}

}  // namespace

bool IsInternal(FailureClass failure) {
  return failure == FailureClass::kInternal || failure == FailureClass::kNodeLost;
}

bool IsWorthAnother(const RestartPolicy& policy, const Trial& trial, const GangStatus& end) {
  const auto reruns = static_cast<std::int64_t>(trial.attempts.size()) - 1;
  if (!end.transient || reruns >= policy.job) return false;
  if (!IsInternal(end.failure)) return true;
  const auto earlier = std::count_if(trial.attempts.begin(),
                                     trial.attempts.end() - 1,
                                     [](const Attempt& a) { return IsInternal(a.failure); });
  return earlier < policy.internal;
}

std::optional<SpentLimit> FindSpentLimit(const TrainingJob& job,
                                         const Trial& trial,
                                         absl::Time now) {
  if (!trial.started.has_value()) return std::nullopt;
  if (IsOver(job.trial_limit, *trial.started, now)) {
    return SpentLimit{.message =
                          fmt::format("ran for longer than its trial's limit of {}, in {} attempts",
                                      absl::FormatDuration(*job.trial_limit),
                                      trial.attempts.size())};
  }
  const bool runs = !trial.attempts.empty() &&
                    trial.attempts.back().state == AttemptState::kRunning &&
                    trial.attempts.back().started.has_value();
  if (!runs) return std::nullopt;
  if (job.nan_limit.has_value() && trial.not_finite >= *job.nan_limit) {
    return SpentLimit{.failure = FailureClass::kDiverged,
                      .message = fmt::format("diverged: NaN or infinite {} times in a row, its "
                                             "limit is {}",
                                             trial.not_finite,
                                             *job.nan_limit)};
  }
  const absl::Time since = LastProgress(trial, trial.attempts.back());
  if (!IsOver(job.progress_limit, since, now)) return std::nullopt;
  return SpentLimit{
      .message = fmt::format("reported nothing for {}, its progress limit is {}",
                             absl::FormatDuration(absl::Floor(now - since, absl::Seconds(1))),
                             absl::FormatDuration(*job.progress_limit))};
}

std::optional<std::string> FindSpentWait(const TrainingJob& job,
                                         const Trial& trial,
                                         absl::Time now) {
  if (trial.started.has_value() || !IsOver(job.wait_limit, trial.created, now)) {
    return std::nullopt;
  }
  return fmt::format("did not come to run within its wait limit of {}",
                     absl::FormatDuration(*job.wait_limit));
}

}  // namespace vernier::engine
