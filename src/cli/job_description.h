#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "src/cli/resources.h"
#include "src/cli/terminal/table.h"

// A study with a training job in the form of AI Platform Training's API (ml.v1, Job).
namespace vernier::cli {

// Whether the job has a maximum running time.
bool HasRunningTime(const Study& study);

// "QUEUED", "PREPARING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLING" or "CANCELLED". `trials` are the study's; for a
// study that has ended they are needed only if its running time is bounded.
std::string JobState(const Study& study, const std::vector<TrialRecord>& trials);

// "2026-11-21T04:12:13Z".
std::string TimeText(absl::Time time);

// Why a job waits.
struct JobWait {
  std::int64_t position = 0;  // In the queue, from 1.
  std::string reason;         // One sentence.
};

// jobId, state, times, errorMessage, etag, labels, trainingInput; jobPosition and waitingReason while it waits;
// restarts that differ from the default; and, for a tuning job, trainingOutput with its trials, best first.
nlohmann::ordered_json JobToJson(const StudyRecord& study,
                                 const std::vector<TrialRecord>& trials,
                                 const std::optional<JobWait>& wait = std::nullopt);

// The part of the requested resources that a trial used, as shares of 1: {"cpus": 0.37, "memory": 0.12}; null if
// nothing is known.
nlohmann::ordered_json UtilizationToJson(const StudySpec& spec, const Trial& trial);

// The job, its input and its trials (by number) as tables, for --summarize.
std::string SummarizeJob(const nlohmann::ordered_json& job, const TableOptions& options);

}  // namespace vernier::cli
