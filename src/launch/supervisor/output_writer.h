#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "src/launch/supervisor/system_time.h"

// Stores a program's output, up to a limit.
namespace vernier::launch {

// Writes the segments that src/launch/output_segments.h describes. Not thread-safe.
class OutputWriter {
 public:
  // Keeps at most `most_bytes` in all, or kLeastKept if that is more. `now` returns the time.
  OutputWriter(std::string log_file, std::int64_t most_bytes, std::string (*now)() = TimeStamp);
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // The time stamp for the next line. It never decreases, even if the system's clock is set back: readers search by
  // time.
  const std::string& Stamp();

  // Takes whole lines, each with its newline and a time from Stamp. Lines that cannot be written, for lack of space,
  // are dropped so that the program can go on; a line reports the number of bytes lost once there is space again.
  void Write(std::string_view lines);

  // Why lines were dropped, an errno; 0 if none was. ENOENT: the file being written was removed.
  int error() const;

  // Lower bound of the limit: every one of the segments must hold a line of the greatest length, 64 KiB and its stamp.
  static constexpr std::int64_t kLeastKept = std::int64_t{1} << 20;

 private:
  void Put(std::string_view lines);
  // The leading lines that fit into the segment; empty if it is full.
  std::string_view Fitting(std::string_view lines) const;
  // Starts the next segment, and removes the oldest but the first if there are too many.
  void Rotate();
  void Append(std::string_view lines);
  void Open();

  const std::string log_file_;
  const std::int64_t segment_bytes_;
  std::string (*const now_)();
  int fd_ = -1;
  std::int64_t begin_ = 0;              // Position in the stream where the current segment begins.
  std::int64_t size_ = 0;               // Size of the current segment.
  std::deque<std::int64_t> removable_;  // Where the segments after the first begin, in order.
  std::size_t lost_ = 0;                // Bytes dropped since the last line that reported a loss.
  int error_ = 0;                       // Why the last write failed, an errno.
  std::string stamp_;                   // The last time stamp.
};

}  // namespace vernier::launch
