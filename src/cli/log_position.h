#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::cli {

// How far the output of a trial was read, so that a new stream continues where the last one broke. Lines have no
// numbers: they are identified by replica and time, and among lines of equal time by their count.
class LogPosition {
 public:
  // Whether the line is new; counts it as read.
  bool Pass(const v1::LogLine& line);
  // Makes the request start a little before the last line; Pass then drops the repeated lines.
  void Resume(v1::StreamTrialLogsRequest& request);

 private:
  struct Place {
    absl::Time time;           // Of the last line.
    std::int64_t lines = 0;    // Lines read with that time.
    std::int64_t skipped = 0;  // Of these, dropped since Resume.
    bool is_behind = false;    // Repeated lines are still arriving.
  };
  std::map<std::tuple<std::int64_t, std::string, std::int32_t>, Place> places_;  // By replica.
};

}  // namespace vernier::cli
