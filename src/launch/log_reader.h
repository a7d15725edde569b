#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/output_cursor.h"

// What the replicas of an attempt printed, read from the files that their supervisors write.
namespace vernier::launch {

// A line that a replica printed.
struct LogLine {
  absl::Time time;
  std::string role;
  std::int32_t index = 0;
  bool is_stderr = false;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Which replicas to read. Empty role: all; no index: every replica of the role.
struct LogFilter {
  std::string role;
  std::optional<std::int32_t> index;
};

// Reads an attempt's output from the beginning, or from its last lines on, as it grows. Not thread-safe. Holds no file
// open between calls; replicas that appear later are picked up. Where output is missing that is not kept any more, a line
// says how much.
class LogReader {
 public:
  explicit LogReader(std::string attempt_directory, LogFilter filter = {});

  // Skips all but the last `lines` complete lines, over all replicas by time, of what is there now. Reads no more of the
  // files than those lines take.
  absl::Status SeekTail(std::int64_t lines);

  // The next complete lines, at most about `max_bytes` of them, merged by time within the call; empty: none yet.
  // Unavailable: a file cannot be read. A directory that does not exist has no lines.
  absl::StatusOr<std::vector<LogLine>> Read(std::int64_t max_bytes = 1 << 20);

 private:
  OutputCursor& CursorOf(const std::string& folder);

  std::string directory_;
  LogFilter filter_;
  std::map<std::string, OutputCursor> cursors_;  // By the name of the replica's folder.
};

// The message of the last line that those replicas printed, if it is JSON and says that it is an error, as in
// {"severity": "ERROR", "message": "no such file"}; else, or if it cannot be read, "".
std::string LastWords(const std::string& attempt_directory, const LogFilter& filter);

}  // namespace vernier::launch
