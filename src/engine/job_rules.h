#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// What a job's restarts and limits mean for one of its trials. Pure functions of what is recorded, so that a restarted
// engine comes to the same answer.
namespace vernier::engine {

// An error of the service itself, not of the program: counted apart, and bounded by RestartPolicy::internal.
bool IsInternal(FailureClass failure);

// Whether the trial is worth another attempt after its last one ended so.
// REQUIRES: the trial has an attempt; the end of the last need not be recorded yet.
bool IsWorthAnother(const RestartPolicy& policy, const Trial& trial, const GangStatus& end);

// A limit of the job that a trial, or its running attempt, has used up.
struct SpentLimit {
  FailureClass failure = FailureClass::kTimeout;
  std::string message;  // One sentence.
};
// Why a trial that has come to RUNNING before must end now; nothing if there is no reason.
std::optional<SpentLimit> FindSpentLimit(const TrainingJob& job,
                                         const Trial& trial,
                                         absl::Time now);

// Why a trial that has never come to RUNNING is given up; nothing if it may wait on.
std::optional<std::string> FindSpentWait(const TrainingJob& job,
                                         const Trial& trial,
                                         absl::Time now);

}  // namespace vernier::engine
