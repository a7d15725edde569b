// The output of all runs of a replica is one stream, stored in segments (src/launch/output_segments.h). A segment holds
// whole lines and never changes once there is a later one, so that readers can follow without locks. A failed write is
// cut off at the last whole line. The supervisor never waits for space: a program blocked on a full pipe would hang,
// and the disk may stay full for hours.

#include "src/launch/supervisor/output_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/launch/output_segments.h"

namespace vernier::launch {

OutputWriter::OutputWriter(std::string log_file, std::int64_t most_bytes, std::string (*now)())
    : log_file_(std::move(log_file)),
      segment_bytes_(std::max(most_bytes, kLeastKept) / kMostSegments),
      now_(now) {
  Open();
}

OutputWriter::~OutputWriter() {
  if (fd_ >= 0) close(fd_);
}

void OutputWriter::Open() {
  // O_NOFOLLOW and O_NONBLOCK: the folder is writable for the program, which may have put a link or a FIFO in this
  // place.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  fd_ = open(SegmentPath(log_file_, begin_).c_str(), kFlags, 0600);
}

int OutputWriter::error() const {
  if (error_ != 0 || fd_ < 0) return error_;
  struct stat file {};
  // A file without links was unlinked by somebody: later writes succeeded, but nobody can read them.
  const bool is_removed = fstat(fd_, &file) == 0 && file.st_nlink == 0;
  return is_removed ? ENOENT : 0;
}

const std::string& OutputWriter::Stamp() { return stamp_ = std::max(stamp_, now_()); }

void OutputWriter::Write(std::string_view lines) {
  const std::size_t lost_before = std::exchange(lost_, 0);
  if (lost_before > 0) {
    Put(std::string(lines.substr(0, lines.find(' '))) + " E [vernier] " +
        std::to_string(lost_before) + " bytes of output were lost here: " + std::strerror(error_) +
        "\n");
    // The notice itself found no space: keep counting.
    if (lost_ > 0) lost_ = lost_before;
  }
  Put(lines);
}

void OutputWriter::Put(std::string_view lines) {
  while (!lines.empty() && lost_ == 0) {
    const std::string_view part = Fitting(lines);
    if (part.empty()) {
      Rotate();
    } else {
      Append(part);
      lines.remove_prefix(part.size());
    }
  }
  lost_ += lines.size();
}

std::string_view OutputWriter::Fitting(std::string_view lines) const {
  const std::int64_t room = segment_bytes_ - size_;
  if (std::cmp_less_equal(lines.size(), room)) return lines;
  const std::size_t newline =
      room > 0 ? lines.rfind('\n', static_cast<std::size_t>(room) - 1) : std::string_view::npos;
  if (newline != std::string_view::npos) return lines.substr(0, newline + 1);
  // A single line longer than an empty segment is written whole. kLeastKept rules that out for lines of LineCutter.
  return size_ > 0 ? std::string_view() : lines;
}

void OutputWriter::Rotate() {
  if (fd_ >= 0) close(fd_);
  begin_ += std::exchange(size_, 0);
  while (removable_.size() + 2 > kMostSegments) {  // Keep the first and the next.
    unlink(SegmentPath(log_file_, removable_.front()).c_str());
    removable_.pop_front();
  }
  removable_.push_back(begin_);
  Open();
}

void OutputWriter::Append(std::string_view lines) {
  if (fd_ < 0) Open();
  if (fd_ < 0) {
    error_ = errno;
    lost_ += lines.size();
    return;
  }
  std::size_t done = 0;
  while (done < lines.size()) {
    const ssize_t written = write(fd_, lines.data() + done, lines.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  if (done < lines.size()) {
    error_ = errno;
    done = lines.substr(0, done).rfind('\n') + 1;  // A segment holds whole lines.
    [[maybe_unused]] const int cut = ftruncate(fd_, size_ + static_cast<off_t>(done));
    lost_ += lines.size() - done;
  }
  size_ += static_cast<std::int64_t>(done);
}

}  // namespace vernier::launch
