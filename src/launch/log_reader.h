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

// Reads the output of the replicas of an attempt from the files of their supervisors.
namespace vernier::launch {

// Reads an attempt's output from the beginning, or from its last lines on, as it grows. Not thread-safe. Holds no file
// open between calls. Replicas that appear later are included. A line marks each place where output was dropped, with
// its size.
//
// Lines of all replicas are merged by time. Two lines at the very end may be swapped: a replica whose line is being
// written does not delay lines of others, and its line comes with the next call.
class LogReader {
 public:
  explicit LogReader(std::string attempt_directory, LogFilter filter = {});

  // Skips all but the last `lines` matching complete lines, of all replicas together. Reads only as much as is needed
  // to find them.
  absl::Status SeekTail(std::int64_t lines);

  // The next matching lines, out of about `max_bytes` of output at most.
  // Unavailable: a file cannot be read. A missing directory has no lines.
  absl::StatusOr<std::vector<LogLine>> Read(std::int64_t max_bytes = 1 << 20);

  // Whether the last Read reached the end of the output.
  bool at_end() const { return at_end_; }

 private:
  struct Source {
    std::string role;
    std::int32_t index = 0;
    OutputCursor cursor;
    std::deque<LogLine> lines;  // Read, not yet returned.
    bool at_end = false;        // Reached the end in this call.
    bool is_over = false;       // Reached the filter's `until`.
  };

  // Adds new replicas.
  absl::Status FindSources();
  // Reads until the next line of each replica is known, or there is none yet. False: the `budget` was used up first.
  absl::StatusOr<bool> FillSources(std::int64_t& budget);
  absl::Status Fill(Source& source, std::int64_t& budget);
  void AddLine(Source& source, const base::OutputLine& line);
  // The source with the earliest line; null: there is no line.
  Source* Earliest();

  const std::string directory_;
  const LogFilter filter_;
  std::map<std::string, Source> sources_;  // By name of the replica's folder.
  bool at_end_ = false;
};

}  // namespace vernier::launch
