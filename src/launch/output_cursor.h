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

// A place in what one replica printed (src/launch/output_segments.h), at first its beginning. Follows it as it grows, from
// segment to segment. Holds no file open between calls. Not thread-safe.
class OutputCursor {
 public:
  // `log_file`: the first segment; it need not exist yet.
  explicit OutputCursor(std::string log_file);

  struct Chunk {
    std::string lines;         // Whole ones, each with its newline; empty: none yet.
    std::int64_t dropped = 0;  // So many bytes before them were printed, and are not kept any more.
  };
  // The next lines, at most about `most_bytes` of them. May return fewer than there are, but none only if there are none.
  // Unavailable: a file cannot be read.
  absl::StatusOr<Chunk> Read(std::int64_t most_bytes);

  // Goes to the first line that was complete at `time` or later; behind the last line, if there is none yet. Searches, since
  // times of a replica never go back: what is read is little, however long the log.
  absl::Status SeekTime(absl::Time time);

  // Where a line begins, and when it was complete.
  struct Mark {
    absl::Time time;
    std::int64_t segment = 0;
    std::int64_t place = 0;
  };
  // The last lines to look for.
  struct Tail {
    std::int64_t count = 0;
    absl::Time since = absl::InfinitePast();
    absl::Time until = absl::InfiniteFuture();               // Itself excluded.
    std::function<bool(const base::OutputLine&)> is_wanted;  // None: every line is.
  };
  // Goes behind the last line that is there, before `until`. Returns the marks of the last `count` lines that are wanted,
  // oldest first; reads no more of the files than it takes to find them.
  absl::StatusOr<std::vector<Mark>> SeekTail(const Tail& tail);
  void Seek(const Mark& mark);

 private:
  // Where the segment begins that is there behind the one being read.
  std::optional<std::int64_t> NextSegment() const;
  // The next lines of the segment being read; empty: none, or no such segment.
  absl::StatusOr<std::string> ReadLines(std::int64_t most_bytes);
  // Behind the last whole line that is there.
  absl::Status SeekEnd();

  const std::string log_file_;
  std::int64_t segment_ = 0;  // Where the one being read begins.
  std::int64_t place_ = 0;    // Of the first line that was not read yet.
};

}  // namespace vernier::launch
