// A k-way merge: a line is returned only when the next line of every replica is known, or that replica has none at
// present. With a budget in bytes per call, a replica that is filtered out to nothing cannot make a call read its whole
// log.

#include "src/launch/log_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/launch/replica_files.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;

// Role and index of a folder "worker-1".
std::optional<std::pair<std::string, std::int32_t>> ParseFolder(const std::string& folder) {
  const std::size_t dash = folder.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  std::int32_t index = 0;
  const char* const end = folder.data() + folder.size();
  const auto [at, error] = std::from_chars(folder.data() + dash + 1, end, index);
  if (error != std::errc() || at != end) return std::nullopt;
  return std::pair(folder.substr(0, dash), index);
}

// The text without the carriage return that ended the line (a progress bar).
std::string_view WithoutReturn(std::string_view text) {
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

std::string DroppedNotice(std::int64_t bytes) {
  return fmt::format(
      "[vernier] {} bytes of output were dropped here: it printed more than its "
      "job's limits.output",
      bytes);
}

// A candidate for the tail, with the cursor that it belongs to.
struct TailLine {
  OutputCursor::Mark mark;
  OutputCursor* cursor;
};

}  // namespace

LogReader::LogReader(std::string attempt_directory, LogFilter filter)
    : directory_(std::move(attempt_directory)), filter_(std::move(filter)) {}

absl::Status LogReader::FindSources() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const std::string folder = entry.path().filename().string();
    if (sources_.contains(folder)) continue;
    const auto replica = ParseFolder(folder);
    if (!replica.has_value()) continue;
    const auto& [role, index] = *replica;
    if (!filter_.role.empty() && filter_.role != role) continue;
    if (filter_.index.value_or(index) != index) continue;
    OutputCursor cursor(directory_ + "/" + folder + "/" + kOutputFile);
    if (filter_.since > absl::InfinitePast()) {
      VERNIER_RETURN_IF_ERROR(cursor.SeekTime(filter_.since));
    }
    sources_.emplace(
        folder, Source{.role = role, .index = index, .cursor = std::move(cursor), .lines = {}});
  }
  return absl::OkStatus();
}

absl::Status LogReader::SeekTail(std::int64_t lines) {
  VERNIER_RETURN_IF_ERROR(FindSources());
  OutputCursor::Tail wanted{.count = lines, .since = filter_.since, .until = filter_.until};
  if (filter_.least > Severity::kDebug) {
    // Severity is judged while searching backwards: a tail of errors may lie far from the end.
    wanted.is_wanted = [this](const base::OutputLine& output) {
      LogLine line{.is_stderr = output.is_error, .text = std::string(output.text)};
      Interpret(line);
      return line.severity >= filter_.least;
    };
  }
  std::vector<TailLine> tail;
  for (auto& [folder, source] : sources_) {
    source.lines.clear();
    source.is_over = false;
    VERNIER_ASSIGN_OR_RETURN(const auto marks, source.cursor.SeekTail(wanted));
    for (const OutputCursor::Mark& mark : marks) tail.push_back({mark, &source.cursor});
  }
  std::ranges::stable_sort(tail, {}, [](const TailLine& line) { return line.mark.time; });
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(0, lines));
  if (tail.size() > kept) tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(kept));
  std::set<const OutputCursor*> placed;
  for (const auto& [mark, cursor] : tail) {
    if (placed.insert(cursor).second) cursor->Seek(mark);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LogLine>> LogReader::Read(std::int64_t max_bytes) {
  VERNIER_RETURN_IF_ERROR(FindSources());
  // A replica at its end may have printed more since the last call.
  for (auto& [folder, source] : sources_) source.at_end = source.is_over;
  std::vector<LogLine> lines;
  at_end_ = false;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool is_filled, FillSources(max_bytes));
    if (!is_filled) return lines;
    Source* const earliest = Earliest();
    if (earliest == nullptr) break;
    lines.push_back(std::move(earliest->lines.front()));
    earliest->lines.pop_front();
  }
  at_end_ = true;
  return lines;
}

absl::StatusOr<bool> LogReader::FillSources(std::int64_t& budget) {
  for (auto& [folder, source] : sources_) {
    while (source.lines.empty() && !source.at_end) {
      if (budget <= 0) return false;
      VERNIER_RETURN_IF_ERROR(Fill(source, budget));
    }
  }
  return true;
}

absl::Status LogReader::Fill(Source& source, std::int64_t& budget) {
  // An equal share for each replica, so that the first does not use up the budget and the call return nothing.
  const std::int64_t share = budget / std::ssize(sources_);
  VERNIER_ASSIGN_OR_RETURN(const OutputCursor::Chunk chunk, source.cursor.Read(share));
  budget -= std::ssize(chunk.lines);
  source.at_end = chunk.lines.empty();
  std::int64_t dropped = chunk.dropped;
  std::string_view rest = chunk.lines;
  for (std::size_t newline = 0;
       !source.is_over && (newline = rest.find('\n')) != std::string_view::npos;) {
    const std::optional<base::OutputLine> parsed = base::ParseOutputLine(rest.substr(0, newline));
    rest.remove_prefix(newline + 1);
    if (!parsed.has_value()) continue;
    // Times never decrease within a replica, so no later line can match.
    source.is_over = parsed->time >= filter_.until;
    if (dropped > 0) {
      const std::string notice = DroppedNotice(std::exchange(dropped, 0));
      AddLine(source, {.time = parsed->time, .is_error = true, .text = notice});
    }
    AddLine(source, *parsed);
  }
  source.at_end |= source.is_over;
  return absl::OkStatus();
}

void LogReader::AddLine(Source& source, const base::OutputLine& line) {
  if (line.time >= filter_.until || line.time < filter_.since) return;
  LogLine read{.time = line.time,
               .role = source.role,
               .index = source.index,
               .is_stderr = line.is_error,
               .text = std::string(WithoutReturn(line.text))};
  Interpret(read);
  if (read.severity >= filter_.least) source.lines.push_back(std::move(read));
}

LogReader::Source* LogReader::Earliest() {
  Source* earliest = nullptr;
  for (auto& [folder, source] : sources_) {
    if (source.lines.empty()) continue;
    if (earliest == nullptr || source.lines.front().time < earliest->lines.front().time) {
      earliest = &source;
    }
  }
  return earliest;
}

}  // namespace vernier::launch
