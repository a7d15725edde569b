#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/base/output_line.h"

namespace vernier::launch {

// A position in the output of one replica (src/launch/output_segments.h), initially its beginning. Follows the output
// as it grows, from segment to segment. Holds no file open between calls. Not thread-safe.
class OutputCursor {
 public:
  // `log_file`: the first segment; it need not exist yet.
  explicit OutputCursor(std::string log_file);

  struct Chunk {
    std::string lines;         // Whole lines, each with its newline; empty: none yet.
    std::int64_t dropped = 0;  // Bytes before them that were removed.
  };
  // Returns the next lines, about `most_bytes` at most: fewer than there are perhaps, but none only if there are none.
  // Unavailable: a file cannot be read.
  absl::StatusOr<Chunk> Read(std::int64_t most_bytes);

  // Moves to the first line that was complete at `time` or later, or to the end if there is none. Uses binary search,
  // since times of a replica never decrease, so the cost hardly depends on the size of the log.
  absl::Status SeekTime(absl::Time time);

  // The position of a line, and the time when it was complete.
  struct Mark {
    absl::Time time;
    std::int64_t segment = 0;
    std::int64_t place = 0;
  };
  // Selects the last lines.
  struct Tail {
    std::int64_t count = 0;
    absl::Time since = absl::InfinitePast();
    absl::Time until = absl::InfiniteFuture();               // Exclusive.
    std::function<bool(const base::OutputLine&)> is_wanted;  // Null: every line.
  };
  // Moves to the end of the output before `until`. Returns the marks of the last `count` wanted lines, oldest first.
  // Reads only as much as is needed to find them.
  absl::StatusOr<std::vector<Mark>> SeekTail(const Tail& tail);
  void Seek(const Mark& mark);

 private:
  // Begin of the segment after the current one.
  std::optional<std::int64_t> NextSegment() const;
  // The next lines of the current segment; empty: none, or it does not exist.
  absl::StatusOr<std::string> ReadLines(std::int64_t most_bytes);
  // Moves to the end of the last whole line.
  absl::Status SeekEnd();

  const std::string log_file_;
  std::int64_t segment_ = 0;  // Begin of the current segment.
  std::int64_t place_ = 0;    // Position of the first unread line.
};

}  // namespace vernier::launch
