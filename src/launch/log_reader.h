#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/output_line.h"
#include "src/launch/log_line.h"
#include "src/launch/output_cursor.h"

// What the replicas of an attempt printed, read from the files that their supervisors write.
namespace vernier::launch {

// Reads an attempt's output from the beginning, or from its last lines on, as it grows. Not thread-safe. Holds no file
// open between calls; replicas that appear later are picked up. Where output is missing that is not kept any more, a line
// says how much.
//
// Lines are merged by time over all replicas. Only at the end of what is there may two of them change places: a replica
// whose line is just being written does not hold back those of others, so it comes with the next call.
class LogReader {
 public:
  explicit LogReader(std::string attempt_directory, LogFilter filter = {});

  // Skips all but the last `lines` complete lines that match, over all replicas by time, of what is there now. Reads no
  // more of the files than it takes to find those lines.
  absl::Status SeekTail(std::int64_t lines);

  // The next complete lines that match, out of at most about `max_bytes`.
  // Unavailable: a file cannot be read. A directory that does not exist has no lines.
  absl::StatusOr<std::vector<LogLine>> Read(std::int64_t max_bytes = 1 << 20);

  // Whether the last Read came to the end of what there was.
  bool at_end() const { return at_end_; }

 private:
  struct Source {
    std::string role;
    std::int32_t index = 0;
    OutputCursor cursor;
    std::deque<LogLine> lines;  // Read, and not given yet.
    bool at_end = false;        // In this call.
    bool is_over = false;       // It has come to the filter's `until`.
  };

  // Takes up the replicas that are new.
  absl::Status FindSources();
  // Reads on until each replica's next line is known, or that there is none yet. False: the `budget` was spent before.
  absl::StatusOr<bool> FillSources(std::int64_t& budget);
  absl::Status Fill(Source& source, std::int64_t& budget);
  void AddLine(Source& source, const base::OutputLine& line);
  // The one with the earliest line; null: there is no line.
  Source* Earliest();

  const std::string directory_;
  const LogFilter filter_;
  std::map<std::string, Source> sources_;  // By the name of the replica's folder.
  bool at_end_ = false;
};

}  // namespace vernier::launch
