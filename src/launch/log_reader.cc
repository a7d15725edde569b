#include "src/launch/log_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/base/output_line.h"
#include "src/launch/replica_files.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;

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

// A line that begins at a mark of one of the replicas.
struct TailLine {
  OutputCursor::Mark mark;
  std::size_t replica = 0;
};

LogLine DroppedNotice(const Replica& replica, absl::Time time, std::int64_t bytes) {
  return {
      .time = time,
      .role = replica.role,
      .index = replica.index,
      .is_stderr = true,
      .text = fmt::format("[vernier] {} bytes of output were dropped here: it printed more than "
                          "its job's limits.output",
                          bytes)};
}

// The lines of a chunk, behind a notice if some are missing before them.
void AddLines(const Replica& replica,
              const OutputCursor::Chunk& chunk,
              std::vector<LogLine>& lines) {
  std::int64_t dropped = chunk.dropped;
  std::string_view rest = chunk.lines;
  for (std::size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
    const std::optional<base::OutputLine> parsed = base::ParseOutputLine(rest.substr(0, newline));
    rest.remove_prefix(newline + 1);
    if (!parsed.has_value()) continue;
    if (dropped > 0) {
      lines.push_back(DroppedNotice(replica, parsed->time, std::exchange(dropped, 0)));
    }
    lines.push_back({.time = parsed->time,
                     .role = replica.role,
                     .index = replica.index,
                     .is_stderr = parsed->is_error,
                     .text = std::string(parsed->text)});
  }
}

}  // namespace

LogReader::LogReader(std::string attempt_directory, LogFilter filter)
    : directory_(std::move(attempt_directory)), filter_(std::move(filter)) {}

OutputCursor& LogReader::CursorOf(const std::string& folder) {
  const auto path = directory_ + "/" + folder + "/" + kOutputFile;
  return cursors_.try_emplace(folder, path).first->second;
}

absl::Status LogReader::SeekTail(std::int64_t lines) {
  const std::vector<Replica> replicas = ListReplicas(directory_, filter_);
  std::vector<TailLine> tail;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(const auto marks, CursorOf(replicas[i].folder).SeekEnd(lines));
    for (const OutputCursor::Mark& mark : marks) tail.push_back({mark, i});
  }
  std::ranges::stable_sort(tail, {}, [](const TailLine& line) { return line.mark.time; });
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(0, lines));
  if (tail.size() > kept) tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(kept));
  std::set<std::size_t> placed;
  for (const auto& [mark, replica] : tail) {
    if (placed.insert(replica).second) CursorOf(replicas[replica].folder).Seek(mark);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LogLine>> LogReader::Read(std::int64_t max_bytes) {
  std::vector<LogLine> lines;
  const std::vector<Replica> replicas = ListReplicas(directory_, filter_);
  const std::int64_t share =
      max_bytes / std::max<std::int64_t>(1, static_cast<std::int64_t>(replicas.size()));
  for (const Replica& replica : replicas) {
    VERNIER_ASSIGN_OR_RETURN(const auto chunk, CursorOf(replica.folder).Read(share));
    AddLines(replica, chunk, lines);
  }
  std::ranges::stable_sort(lines, {}, &LogLine::time);
  return lines;
}

std::string LastWords(const std::string& attempt_directory, const LogFilter& filter) {
  constexpr std::size_t kMost = 1000;
  LogReader reader(attempt_directory, filter);
  if (!reader.SeekTail(1).ok()) return "";
  const auto lines = reader.Read();
  if (!lines.ok() || lines->empty()) return "";
  const auto json = nlohmann::json::parse(lines->back().text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  const auto severity = json.find("severity");
  const auto message = json.find("message");
  const bool is_error = severity != json.end() && (*severity == "ERROR" || *severity == "CRITICAL");
  if (!is_error || message == json.end() || !message->is_string()) return "";
  std::string words = message->get<std::string>();
  if (words.size() <= kMost) return words;
  words.resize(kMost);
  while (!words.empty() && (words.back() & 0x80) != 0) words.pop_back();  // Never half a character.
  return words + "…";
}

}  // namespace vernier::launch
