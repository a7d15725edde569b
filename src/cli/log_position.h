#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::cli {

// How far the output of a trial was read, so that a stream that begins again goes on where the one before ended. Lines have
// no numbers: those of one replica are told apart by their times, and of those with the same time by how many there were.
class LogPosition {
 public:
  // Whether the line was not read before; counts it as read.
  bool Pass(const v1::LogLine& line);
  // Has the request ask for what comes next, and a little before it, which Pass leaves out.
  void Resume(v1::StreamTrialLogsRequest& request);

 private:
  struct Place {
    absl::Time time;           // Of the last line.
    std::int64_t lines = 0;    // Read of that time.
    std::int64_t skipped = 0;  // Of those, since Resume.
    bool is_behind = false;    // Lines that were read come again.
  };
  std::map<std::tuple<std::int64_t, std::string, std::int32_t>, Place> places_;  // By replica.
};

}  // namespace vernier::cli
