#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/resources.h"
#include "vernier/core/event.h"
#include "vernier/core/severity.h"

namespace vernier::cli {

// Lines of the service itself in a job's log: that it was accepted, what its trials wait for, where their programs run,
// which were restarted, how they and the job ended.
class ServiceLog {
 public:
  // Adds lines for everything since the last call: the study's events, and why trials wait now. `trials`: in their
  // state at `now`.
  absl::Status Look(Connection& connection,
                    const StudyRecord& study,
                    const std::vector<TrialRecord>& trials,
                    absl::Time now);

  // Lines not yet taken, ordered by time; their role is "service".
  std::deque<std::pair<TrialNumber, v1::LogLine>>& lines() { return lines_; }

 private:
  void Add(const Event& event);
  absl::Status AddWaits(Connection& connection,
                        absl::Time now,
                        const std::vector<TrialRecord>& trials);
  void AddLine(absl::Time time, TrialNumber trial, Severity severity, const std::string& text);

  EventSeq last_;          // The last event read.
  bool is_tuned_ = false;  // Then the reason of its completion is worth a line.
  std::map<TrialNumber, std::string> waits_for_;
  std::map<TrialNumber, std::int64_t> restarts_;  // In its last attempt.
  std::deque<std::pair<TrialNumber, v1::LogLine>> lines_;
};

}  // namespace vernier::cli
