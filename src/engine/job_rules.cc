#include "src/engine/job_rules.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "src/core/running_time.h"
#include "src/jobs/replica_exit.h"
#include "src/study/alike.h"

namespace vernier::engine {
namespace {

bool IsOver(const std::optional<absl::Duration>& limit, absl::Time since, absl::Time now) {
  return limit.has_value() && now - since >= *limit;
}

// Since when the running attempt has reported nothing.
absl::Time LastProgress(const Trial& trial, const Attempt& attempt) {
  // The last measurement may be of an earlier attempt; the wait then counts from the start of this one.
  const absl::Time started = *attempt.started;
  return trial.last.has_value() ? std::max(started, trial.last->time) : started;
}

bool HasCrashed(FailureClass failure, bool transient, const std::vector<ReplicaResult>& replicas) {
  // Crashes have no failure class of their own (docs/adr/0022): they are errors of the user for
  // which the launcher considers another attempt worth a try.
  return failure == FailureClass::kUserError && transient &&
         std::ranges::any_of(replicas, [](const ReplicaResult& replica) {
           return jobs::KindOf({.exit_code = replica.exit_code, .signal = replica.signal}) ==
                  jobs::ExitKind::kCrashed;
         });
}

bool HasCrashed(const Attempt& attempt) {
  return HasCrashed(attempt.failure, attempt.transient, attempt.replicas);
}

// Whether the attempt reported a step beyond those of the attempts before it.
bool CameFurther(const Attempt& attempt, std::span<const Measurement> curve) {
  const absl::Time started = attempt.started.value_or(attempt.placed);
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> since;
  for (const Measurement& measurement : curve) {
    // A measurement does not name its attempt, so its time decides.
    std::optional<std::int64_t>& furthest = measurement.time < started ? before : since;
    furthest = std::max(furthest.value_or(measurement.step), measurement.step);
  }
  return since.has_value() && (!before.has_value() || *since > *before);
}

}  // namespace

bool IsCrash(const GangStatus& end) { return HasCrashed(end.failure, end.transient, end.replicas); }

std::optional<std::string> FindSameCrash(const Study& study,
                                         const Trial& trial,
                                         const GangStatus& end,
                                         std::span<const Measurement> curve,
                                         std::span<const Trial> others) {
  if (CameFurther(trial.attempts.back(), curve)) return std::nullopt;
  const std::string crash = study::EndOf(end.message, trial.point);
  // Only attempts of the same definition are compared: a changed job may do better.
  const EventSeq defined_by = trial.attempts.back().defined_by;
  for (const Attempt& attempt : std::span(trial.attempts).first(trial.attempts.size() - 1)) {
    if (attempt.defined_by != defined_by || !HasCrashed(attempt)) continue;
    if (study::EndOf(attempt.message, trial.point) == crash) {
      return fmt::format("It crashed in the same way in attempt {}, so it is not run again.",
                         attempt.number.value());
    }
  }
  // Once a trial has completed, the program can work, and a crash elsewhere may be due to the point.
  if (study.completed > 0) return std::nullopt;
  for (const Trial& other : others) {
    const bool has_crashed = other.number != trial.number && other.state == TrialState::kFailed &&
                             !other.attempts.empty() && HasCrashed(other.attempts.back()) &&
                             other.attempts.back().defined_by == defined_by;
    if (has_crashed && study::EndOf(other.message, other.point) == crash) {
      return fmt::format("Trial {} crashed in the same way, so it is not run again.",
                         other.number.value());
    }
  }
  return std::nullopt;
}

bool IsInternal(FailureClass failure) {
  return failure == FailureClass::kInternal || failure == FailureClass::kNodeLost;
}

bool IsWorthAnother(const RestartPolicy& policy, const Trial& trial, const GangStatus& end) {
  // Those that were stopped, to pause the trial or for a changed job, count neither for nor against it.
  const auto reruns =
      std::count_if(trial.attempts.begin(), trial.attempts.end() - 1, [](const Attempt& attempt) {
        return attempt.state != AttemptState::kStopped;
      });
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
  // Counts from the first start, over all attempts, whether or not one runs now, but not while the trial was paused.
  if (IsOver(job.trial_limit, *trial.started + PausedTime(trial, now), now)) {
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

absl::Time NextLimit(const TrainingJob& job, const Trial& trial, absl::Time now) {
  absl::Time next = absl::InfiniteFuture();
  const auto add = [&](const std::optional<absl::Duration>& limit, absl::Time since) {
    // A limit that is over has had its say. Named again, it would make the engine step without a pause.
    if (limit.has_value() && since + *limit > now) next = std::min(next, since + *limit);
  };
  if (!trial.started.has_value()) {
    add(job.wait_limit, trial.created);
    return next;
  }
  add(job.trial_limit, *trial.started + PausedTime(trial, now));
  if (!trial.attempts.empty() && trial.attempts.back().started.has_value()) {
    add(job.progress_limit, LastProgress(trial, trial.attempts.back()));
  }
  return next;
}

}  // namespace vernier::engine
