#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "src/launch/supervisor/system_time.h"

// Keeps what a program prints, but no more of it than is wanted.
namespace vernier::launch {

// Writes the segments that src/launch/output_segments.h describes. Not thread-safe.
class OutputWriter {
 public:
  // At most `most_bytes` are kept in all, at least kLeastKept. `now` tells the time.
  OutputWriter(std::string log_file, std::int64_t most_bytes, std::string (*now)() = TimeStamp);
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // The time, for the next line: never before what was given last, even where the clock was set back.
  const std::string& Stamp();

  // Takes whole lines, each with its newline, stamped by Stamp. Where they cannot be written, for want of space, they are given up: the program
  // goes on. A line says so, once there is space again.
  void Write(std::string_view lines);

  // Why lines were given up, an errno; 0: none was. ENOENT: the file that they are written to was removed.
  int error() const;

  // Room for a line of the greatest length in every segment.
  static constexpr std::int64_t kLeastKept = std::int64_t{1} << 20;

 private:
  void Put(std::string_view lines);
  // As many of the lines as the segment has room for; none: it is full.
  std::string_view Fitting(std::string_view lines) const;
  // Removes what is too much, and begins the next segment.
  void Rotate();
  void Append(std::string_view lines);
  void Open();

  const std::string log_file_;
  const std::int64_t segment_bytes_;
  std::string (*const now_)();
  int fd_ = -1;
  std::int64_t begin_ = 0;              // Of the segment being written.
  std::int64_t size_ = 0;               // Of the same.
  std::deque<std::int64_t> removable_;  // Beginnings of the segments after the first, in order.
  std::size_t lost_ = 0;  // So many bytes could not be written, and nothing says so yet.
  int error_ = 0;         // Why, the last time.
  std::string stamp_;     // Given last.
};

}  // namespace vernier::launch
