#include "src/launch/log_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/output_line.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;

// A line is at most this long, with its stamp and a margin: a read of less could find no line where there is one.
constexpr std::int64_t kLongestStamped = 1 << 17;

struct Replica {
  std::string folder;  // "worker-1"
  std::string role;
  std::int32_t index = 0;
};

std::optional<Replica> ParseFolder(const std::string& folder) {
  const std::size_t dash = folder.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  Replica replica{.folder = folder, .role = folder.substr(0, dash)};
  const char* const end = folder.data() + folder.size();
  const auto [at, error] = std::from_chars(folder.data() + dash + 1, end, replica.index);
  if (error != std::errc() || at != end) return std::nullopt;
  return replica;
}

bool Matches(const LogFilter& filter, const Replica& replica) {
  if (!filter.role.empty() && filter.role != replica.role) return false;
  return !filter.index.has_value() || *filter.index == replica.index;
}

std::vector<Replica> ListReplicas(const std::string& directory, const LogFilter& filter) {
  std::vector<Replica> replicas;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::optional<Replica> replica = ParseFolder(entry.path().filename().string());
    if (replica.has_value() && Matches(filter, *replica)) replicas.push_back(*std::move(replica));
  }
  std::ranges::sort(replicas, {}, &Replica::folder);
  return replicas;
}

// The bytes from `offset` on, at most `count`, of a file that may not be there yet.
absl::StatusOr<std::string> ReadFrom(const std::string& path,
                                     std::int64_t offset,
                                     std::int64_t count) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::string();
    return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  }
  std::string bytes(static_cast<std::size_t>(count), '\0');
  std::size_t filled = 0;
  ssize_t got = 1;
  while (got > 0 && filled < bytes.size()) {
    got = pread(
        fd, bytes.data() + filled, bytes.size() - filled, offset + static_cast<off_t>(filled));
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  close(fd);
  if (got < 0) return Unavailable("cannot read '{}': {}", path, std::strerror(errno));
  bytes.resize(filled);
  return bytes;
}

// Calls `visit` with each complete line. Returns how many bytes they are.
template <typename Visit>
std::size_t ForEachLine(std::string_view bytes, Visit visit) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t newline = bytes.find('\n', at);
    if (newline == std::string_view::npos) return at;
    visit(bytes.substr(at, newline - at), at);
    at = newline + 1;
  }
}

// Where in its file a line begins, and when it was printed.
struct Mark {
  absl::Time time;
  std::size_t replica = 0;
  std::int64_t offset = 0;
};

}  // namespace

LogReader::LogReader(std::string attempt_directory, LogFilter filter)
    : directory_(std::move(attempt_directory)), filter_(std::move(filter)) {}

std::string LogReader::PathOf(const std::string& folder) const {
  return directory_ + "/" + folder + "/" + kOutputFile;
}

absl::Status LogReader::SeekTail(std::int64_t lines) {
  const std::vector<Replica> replicas = ListReplicas(directory_, filter_);
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const std::optional<std::string> bytes = ReadWholeFile(PathOf(replicas[i].folder));
    if (!bytes.has_value()) continue;
    const std::size_t end = ForEachLine(*bytes, [&](std::string_view line, std::size_t at) {
      const std::optional<base::OutputLine> parsed = base::ParseOutputLine(line);
      if (parsed.has_value()) marks.push_back({parsed->time, i, static_cast<std::int64_t>(at)});
    });
    offsets_[replicas[i].folder] = static_cast<std::int64_t>(end);
  }
  std::ranges::stable_sort(marks, {}, &Mark::time);
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(0, lines));
  for (std::size_t i = marks.size() - std::min(marks.size(), kept); i < marks.size(); ++i) {
    std::int64_t& offset = offsets_[replicas[marks[i].replica].folder];
    offset = std::min(offset, marks[i].offset);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LogLine>> LogReader::Read(std::int64_t max_bytes) {
  std::vector<LogLine> lines;
  const std::vector<Replica> replicas = ListReplicas(directory_, filter_);
  const std::int64_t share =
      max_bytes / std::max<std::int64_t>(1, static_cast<std::int64_t>(replicas.size()));
  for (const Replica& replica : replicas) {
    std::int64_t& offset = offsets_[replica.folder];
    VERNIER_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadFrom(PathOf(replica.folder), offset, std::max(share, kLongestStamped)));
    const std::size_t used = ForEachLine(bytes, [&](std::string_view line, std::size_t) {
      const std::optional<base::OutputLine> parsed = base::ParseOutputLine(line);
      if (!parsed.has_value()) return;
      lines.push_back({.time = parsed->time,
                       .role = replica.role,
                       .index = replica.index,
                       .is_stderr = parsed->is_error,
                       .text = std::string(parsed->text)});
    });
    offset += static_cast<std::int64_t>(used);
  }
  std::ranges::stable_sort(lines, {}, &LogLine::time);
  return lines;
}

}  // namespace vernier::launch
