#include "src/launch/output_cursor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/output_line.h"
#include "src/core/status.h"
#include "src/launch/output_segments.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

// A line is at most this long, with its stamp and a margin: a read of less could find no line where there is one.
constexpr std::int64_t kLongestStamped = 1 << 17;
constexpr std::int64_t kBlock = 1 << 16;

// A file open for reading.
class File {
 public:
  // Not open: there is no such file.  Unavailable: it cannot be read.
  static absl::StatusOr<File> Open(std::string path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0 || errno == ENOENT) return File(std::move(path), fd);
    return Unreadable(path);
  }
  File(File&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }

  absl::StatusOr<std::int64_t> Size() const {
    struct stat file {};
    if (fstat(fd_, &file) != 0) return Unreadable(path_);
    return file.st_size;
  }

  // At most `count` bytes from `offset` on.
  absl::StatusOr<std::string> Read(std::int64_t offset, std::int64_t count) const {
    std::string bytes(static_cast<std::size_t>(count), '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = pread(
          fd_, bytes.data() + filled, bytes.size() - filled, offset + static_cast<off_t>(filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Unreadable(path_);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

 private:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  static absl::Status Unreadable(const std::string& path) {
    return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  }

  std::string path_;
  int fd_;
};

// Whole lines of a file, the last one first.
class BackwardLines {
 public:
  BackwardLines(const File& file, std::int64_t size) : file_(file), begin_(size) {}

  // The line before the one given last, without its newline, and where it begins in the file.  Nothing: there is none.
  struct Line {
    std::string text;
    std::int64_t at = 0;
  };
  absl::StatusOr<std::optional<Line>> Next() {
    if (torn_) VERNIER_RETURN_IF_ERROR(SkipTorn());
    while (begin_ > 0 && FindStart() == 0) VERNIER_RETURN_IF_ERROR(ReadBlock());
    if (bytes_.empty()) return std::nullopt;
    const std::size_t start = FindStart();
    Line line{.text = bytes_.substr(start, bytes_.size() - start - 1),
              .at = begin_ + static_cast<std::int64_t>(start)};
    bytes_.resize(start);
    return line;
  }

 private:
  // Where the last line of bytes_ begins; 0 also if it may begin before them.
  std::size_t FindStart() const {
    if (bytes_.size() < 2) return 0;
    return bytes_.rfind('\n', bytes_.size() - 2) + 1;
  }

  // What is behind the last newline is no line yet.
  absl::Status SkipTorn() {
    std::size_t end = 0;
    while (end == 0 && begin_ > 0) {
      bytes_.clear();
      VERNIER_RETURN_IF_ERROR(ReadBlock());
      end = bytes_.rfind('\n') + 1;
    }
    bytes_.resize(end);
    torn_ = false;
    return absl::OkStatus();
  }

  absl::Status ReadBlock() {
    const std::int64_t count = std::min(kBlock, begin_);
    VERNIER_ASSIGN_OR_RETURN(const std::string block, file_.Read(begin_ - count, count));
    if (std::cmp_less(block.size(), count)) return Unavailable("an output file was cut short");
    begin_ -= count;
    bytes_.insert(0, block);
    return absl::OkStatus();
  }

  const File& file_;
  std::int64_t begin_;  // Of bytes_ in the file.
  std::string bytes_;   // Up to the end of the next line to give.
  bool torn_ = true;    // Or what is behind it, still to be cut off.
};

}  // namespace

OutputCursor::OutputCursor(std::string log_file) : log_file_(std::move(log_file)) {}

absl::StatusOr<OutputCursor::Chunk> OutputCursor::Read(std::int64_t most_bytes) {
  Chunk chunk;
  for (;;) {
    // Looked for before the lines are: once there is a later segment, nothing comes to this one any more.
    const std::optional<std::int64_t> next = NextSegment();
    VERNIER_ASSIGN_OR_RETURN(chunk.lines, ReadLines(std::max(most_bytes, kLongestStamped)));
    if (!chunk.lines.empty() || !next.has_value()) return chunk;
    chunk.dropped += *next - place_;
    segment_ = place_ = *next;
  }
}

std::optional<std::int64_t> OutputCursor::NextSegment() const {
  const std::vector<std::int64_t> segments = ListSegments(log_file_);
  const auto next = std::ranges::upper_bound(segments, segment_);
  return next == segments.end() ? std::nullopt : std::optional(*next);
}

absl::StatusOr<std::string> OutputCursor::ReadLines(std::int64_t most_bytes) {
  VERNIER_ASSIGN_OR_RETURN(const File file, File::Open(SegmentPath(log_file_, segment_)));
  if (!file.is_open()) return std::string();  // Removed, or not there yet.
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t size, file.Size());
  const std::int64_t offset = place_ - segment_;
  VERNIER_ASSIGN_OR_RETURN(
      std::string lines, file.Read(offset, std::clamp<std::int64_t>(size - offset, 0, most_bytes)));
  lines.resize(lines.rfind('\n') + 1);
  place_ += static_cast<std::int64_t>(lines.size());
  return lines;
}

absl::StatusOr<std::vector<OutputCursor::Mark>> OutputCursor::SeekEnd(std::int64_t count) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(0, count));
  std::vector<std::int64_t> segments = ListSegments(log_file_);
  std::ranges::reverse(segments);
  std::vector<Mark> marks;
  std::optional<Mark> end;
  for (const std::int64_t segment : segments) {
    if (end.has_value() && marks.size() >= wanted) break;
    VERNIER_ASSIGN_OR_RETURN(const File file, File::Open(SegmentPath(log_file_, segment)));
    if (!file.is_open()) continue;  // It was removed just now.
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t size, file.Size());
    BackwardLines lines(file, size);
    while (!end.has_value() || marks.size() < wanted) {
      VERNIER_ASSIGN_OR_RETURN(const auto line, lines.Next());
      if (!line.has_value()) break;
      const std::int64_t place = segment + line->at;
      const auto length = static_cast<std::int64_t>(line->text.size()) + 1;
      if (!end.has_value()) end = Mark{.segment = segment, .place = place + length};
      const auto parsed = base::ParseOutputLine(line->text);
      if (!parsed.has_value() || marks.size() >= wanted) continue;
      marks.push_back({.time = parsed->time, .segment = segment, .place = place});
    }
  }
  if (end.has_value()) Seek(*end);
  std::ranges::reverse(marks);
  return marks;
}

void OutputCursor::Seek(const Mark& mark) {
  segment_ = mark.segment;
  place_ = mark.place;
}

}  // namespace vernier::launch
