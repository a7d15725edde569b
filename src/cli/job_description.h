#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "src/cli/resources.h"
#include "src/cli/terminal/table.h"

// A study that runs a training job, as AI Platform Training's API describes jobs (ml.v1, Job).
namespace vernier::cli {

// Whether the job's input bounds how long it may run.
bool HasRunningTime(const Study& study);

// "QUEUED", "PREPARING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLING" or "CANCELLED". `trials`: of the study; of one
// that has ended they are needed only if its running time is bounded.
std::string JobState(const Study& study, const std::vector<TrialRecord>& trials);

// "2026-11-21T04:12:13Z".
std::string TimeText(absl::Time time);

// What a job that does not run yet waits for.
struct JobWait {
  std::int64_t position = 0;  // In the queue, from 1.
  std::string reason;         // One sentence.
};

// jobId, state, times, errorMessage, jobPosition and waitingReason of one that waits, etag, labels, trainingInput, restarts
// that are not the usual ones and, of a tuning job, trainingOutput with its trials, best first.
nlohmann::ordered_json JobToJson(const StudyRecord& study,
                                 const std::vector<TrialRecord>& trials,
                                 const std::optional<JobWait>& wait = std::nullopt);

// What a trial used of what it asked for, as shares of 1: {"cpus": 0.37, "memory": 0.12}; null if neither is known.
nlohmann::ordered_json UtilizationToJson(const StudySpec& spec, const Trial& trial);

// The job, its input and its trials (by number) as tables.
std::string SummarizeJob(const nlohmann::ordered_json& job, const TableOptions& options);

}  // namespace vernier::cli
