#include "src/launch/output_tail.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/output_line.h"
#include "src/launch/output_cursor.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

// A choice: a few lines of ordinary length.
constexpr std::int64_t kMostTail = 4096;

}  // namespace

std::string OutputTail(const std::string& folder, int lines) {
  OutputCursor cursor(folder + "/" + kOutputFile);
  const auto marks = cursor.SeekTail({.count = lines});
  if (!marks.ok() || marks->empty()) return "";
  cursor.Seek(marks->front());
  const auto chunk = cursor.Read(kMostTail);
  std::vector<std::string> texts;
  std::string_view rest = chunk.ok() ? std::string_view(chunk->lines) : "";
  for (std::size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
    const std::optional<base::OutputLine> line = base::ParseOutputLine(rest.substr(0, newline));
    rest.remove_prefix(newline + 1);
    if (line.has_value() && !line->text.empty()) texts.emplace_back(line->text);
  }
  return fmt::format("{}", fmt::join(texts, " | "));
}

}  // namespace vernier::launch
