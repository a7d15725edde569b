// Positions are bytes of the whole stream, so they stay valid when a segment is removed: reading goes on with the next
// one and reports the gap. Files are opened anew for each call, since a follower may live for days and segments come
// and go.
//
// The supervisor appends while this reads. A line counts only once its newline is there; the rest is read again later.

#include "src/launch/output_cursor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/open_file.h"
#include "src/base/output_line.h"
#include "src/core/status.h"
#include "src/launch/output_segments.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

// Twice the greatest length of a line with its stamp (kLongestLine in src/launch/supervisor/output_capture.h). A read
// of less might not reach the next newline.
constexpr std::int64_t kLongestStamped = 1 << 17;
// Bytes read at once when searching backwards or at the end of a binary search. A choice: one read of a typical tail.
constexpr std::int64_t kBlock = 1 << 16;

// A segment, open for reading.
class SegmentFile {
 public:
  // is_open() is false if there is no such file, or the program has put something else in its place.  Unavailable: it
  // cannot be read.
  static absl::StatusOr<SegmentFile> Open(std::string path) {
    SegmentFile file(std::move(path));
    const int error = file.file_.error();
    const bool is_other = error == ENOENT || error == ENXIO || error == ELOOP;
    if (error != 0 && !is_other) return file.Unreadable(error);
    return file;
  }

  bool is_open() const { return file_.error() == 0 && file_.kind().empty(); }

  absl::StatusOr<std::int64_t> Size() const {
    const std::optional<std::int64_t> size = file_.Size();
    if (!size.has_value()) return Unreadable(errno);
    return *size;
  }

  // Returns at most `count` bytes from `offset` on.
  absl::StatusOr<std::string> Read(std::int64_t offset, std::int64_t count) const {
    std::optional<std::string> bytes = file_.ReadAt(offset, count);
    if (!bytes.has_value()) return Unreadable(errno);
    return *std::move(bytes);
  }

 private:
  explicit SegmentFile(std::string path)
      : path_(std::move(path)), file_(path_, base::OpenFile::Link::kRefuse) {}
  absl::Status Unreadable(int error) const {
    return Unavailable("cannot read '{}': {}", path_, std::strerror(error));
  }

  std::string path_;
  base::OpenFile file_;
};

// Iterates over the whole lines of a file, from the last to the first.
class BackwardLines {
 public:
  BackwardLines(const SegmentFile& file, std::int64_t size) : file_(file), begin_(size) {}

  // The previous line, without its newline, and its position in the file. Nothing: there is none.
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
  // Begin of the last line of bytes_; 0 also if it may begin earlier in the file.
  std::size_t FindStart() const {
    if (bytes_.size() < 2) return 0;
    return bytes_.rfind('\n', bytes_.size() - 2) + 1;
  }

  // Drops the text after the last newline, which is no line yet.
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

  const SegmentFile& file_;
  std::int64_t begin_;  // Position of bytes_ in the file.
  std::string bytes_;   // Ends with the next line to return.
  bool torn_ = true;    // bytes_ may end with an incomplete line.
};

// Time and position of a line in the file.
struct TimedLine {
  std::int64_t at = 0;
  absl::Time time;
};

// The first line that begins at `from` or later and was complete at `time` or later. Nothing: there is none nearby.
absl::StatusOr<std::optional<TimedLine>> FindLine(const SegmentFile& file,
                                                  std::int64_t from,
                                                  absl::Time time = absl::InfinitePast()) {
  // Starts one byte earlier: that byte is a newline if a line begins at `from`.
  std::int64_t at = std::max<std::int64_t>(0, from - 1);
  VERNIER_ASSIGN_OR_RETURN(const std::string bytes, file.Read(at, kBlock + 2 * kLongestStamped));
  std::string_view rest = bytes;
  bool is_whole = from == 0;
  for (std::size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
    const auto parsed = base::ParseOutputLine(rest.substr(0, newline));
    if (is_whole && parsed.has_value() && parsed->time >= time) {
      return TimedLine{.at = at, .time = parsed->time};
    }
    is_whole = true;
    rest.remove_prefix(newline + 1);
    at += static_cast<std::int64_t>(newline) + 1;
  }
  return std::nullopt;
}

// Position of the first line in the file that was complete at `time` or later. Nothing: there is none.
absl::StatusOr<std::optional<std::int64_t>> FindTime(const SegmentFile& file, absl::Time time) {
  // Invariant of the search: lines that begin before `begin` are too early; the first line after `end` is late enough.
  std::int64_t begin = 0;
  VERNIER_ASSIGN_OR_RETURN(std::int64_t end, file.Size());
  while (end - begin > kBlock) {
    const std::int64_t middle = begin + (end - begin) / 2;
    VERNIER_ASSIGN_OR_RETURN(const auto line, FindLine(file, middle));
    if (line.has_value() && line->time < time) {
      begin = line->at + 1;
    } else {
      end = middle;
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const auto line, FindLine(file, begin, time));
  return line.has_value() ? std::optional(line->at) : std::nullopt;
}

}  // namespace

OutputCursor::OutputCursor(std::string log_file) : log_file_(std::move(log_file)) {}

absl::StatusOr<OutputCursor::Chunk> OutputCursor::Read(std::int64_t most_bytes) {
  Chunk chunk;
  for (;;) {
    // Look for the next segment before reading the lines: the current one does not grow once there is a later one. In
    // the other order, lines written in between would be skipped.
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
  VERNIER_ASSIGN_OR_RETURN(const SegmentFile file,
                           SegmentFile::Open(SegmentPath(log_file_, segment_)));
  if (!file.is_open()) return std::string();  // Removed, or not yet created.
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t size, file.Size());
  const std::int64_t offset = place_ - segment_;
  VERNIER_ASSIGN_OR_RETURN(
      std::string lines, file.Read(offset, std::clamp<std::int64_t>(size - offset, 0, most_bytes)));
  lines.resize(lines.rfind('\n') + 1);
  place_ += static_cast<std::int64_t>(lines.size());
  return lines;
}

absl::Status OutputCursor::SeekTime(absl::Time time) {
  const std::vector<std::int64_t> segments = ListSegments(log_file_);
  // The last segment that begins before the time holds the line, or else the segment after it begins with it.
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    VERNIER_ASSIGN_OR_RETURN(const SegmentFile file,
                             SegmentFile::Open(SegmentPath(log_file_, *segment)));
    if (!file.is_open()) continue;  // Removed just now.
    VERNIER_ASSIGN_OR_RETURN(const auto first, FindLine(file, 0));
    const bool is_first = segment + 1 == segments.rend();
    if (!is_first && (!first.has_value() || first->time >= time)) continue;
    VERNIER_ASSIGN_OR_RETURN(const auto found, FindTime(file, time));
    if (found.has_value()) {
      Seek({.segment = *segment, .place = *segment + *found});
    } else if (segment == segments.rbegin()) {
      return SeekEnd();
    } else {
      Seek({.segment = *(segment - 1), .place = *(segment - 1)});
    }
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status OutputCursor::SeekEnd() {
  std::vector<std::int64_t> segments = ListSegments(log_file_);
  std::ranges::reverse(segments);
  for (const std::int64_t segment : segments) {
    VERNIER_ASSIGN_OR_RETURN(const SegmentFile file,
                             SegmentFile::Open(SegmentPath(log_file_, segment)));
    if (!file.is_open()) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t size, file.Size());
    VERNIER_ASSIGN_OR_RETURN(const auto line, BackwardLines(file, size).Next());
    const auto end = line.has_value() ? line->at + std::ssize(line->text) + 1 : 0;
    if (end == 0 && segment != segments.back()) continue;
    Seek({.segment = segment, .place = segment + end});
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<OutputCursor::Mark>> OutputCursor::SeekTail(const Tail& tail) {
  VERNIER_RETURN_IF_ERROR(tail.until < absl::InfiniteFuture() ? SeekTime(tail.until) : SeekEnd());
  std::vector<std::int64_t> segments = ListSegments(log_file_);
  std::erase_if(segments, [&](std::int64_t segment) { return segment > segment_; });
  std::vector<Mark> marks;
  bool is_early = false;
  const auto is_done = [&] { return is_early || std::cmp_greater_equal(marks.size(), tail.count); };
  for (auto segment = segments.rbegin(); segment != segments.rend() && !is_done(); ++segment) {
    VERNIER_ASSIGN_OR_RETURN(const SegmentFile file,
                             SegmentFile::Open(SegmentPath(log_file_, *segment)));
    if (!file.is_open()) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t size, file.Size());
    BackwardLines lines(file, *segment == segment_ ? place_ - segment_ : size);
    while (!is_done()) {
      VERNIER_ASSIGN_OR_RETURN(const auto line, lines.Next());
      if (!line.has_value()) break;
      const auto parsed = base::ParseOutputLine(line->text);
      if (!parsed.has_value()) continue;
      is_early = parsed->time < tail.since;
      if (is_early || (tail.is_wanted && !tail.is_wanted(*parsed))) continue;
      marks.push_back({.time = parsed->time, .segment = *segment, .place = *segment + line->at});
    }
  }
  std::ranges::reverse(marks);
  return marks;
}

void OutputCursor::Seek(const Mark& mark) {
  segment_ = mark.segment;
  place_ = mark.place;
}

}  // namespace vernier::launch
