#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/study.h"
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

// Whether the attempt failed by a crash of its program: SIGSEGV, SIGABRT and the like, of whichever replica.
bool IsCrash(const GangStatus& end);

// Why a trial whose program crashed is not worth another attempt, one sentence; nothing if it may be. A crash that comes
// again in the same way is no chance: in an earlier attempt of the trial, or, in a study of which no trial has completed, in
// another trial. An attempt that has come further than those before it is worth another all the same.
// REQUIRES: IsCrash(end). The end of the trial's last attempt need not be recorded yet. `curve`: what the trial reported.
std::optional<std::string> FindSameCrash(const Study& study,
                                         const Trial& trial,
                                         const GangStatus& end,
                                         std::span<const Measurement> curve,
                                         std::span<const Trial> others);

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

// When one of the two above may next say something new of the trial, if nothing is reported meanwhile and it stays in its
// state. InfiniteFuture: never.
absl::Time NextLimit(const TrainingJob& job, const Trial& trial, absl::Time now);

}  // namespace vernier::engine
