#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

// The format of the stored output of a replica: one line for each line that the program wrote,
//
//   2026-11-21T04:12:13.123456Z O the text
//
// with the time at which the line was complete (UTC, always six decimals), and O for stdout or E for stderr. The text
// may hold any byte but a newline.
namespace vernier::base {

struct OutputLine {
  absl::Time time;
  bool is_error = false;  // From stderr.
  std::string_view text;  // Points into the parsed line.
};

// Parses a line without its newline. Nothing if it has another form, as the torn end of a file may have.
inline std::optional<OutputLine> ParseOutputLine(std::string_view line) {
  constexpr std::size_t kTime = 27;  // 2026-11-21T04:12:13.123456Z
  // Fixed columns make parsing cheap: it is done for every line that is read.
  constexpr std::size_t kText = kTime + 3;
  if (line.size() < kText || line[kTime] != ' ' || line[kTime + 2] != ' ') return std::nullopt;
  const char stream = line[kTime + 1];
  if (stream != 'O' && stream != 'E') return std::nullopt;
  OutputLine result{.time = {}, .is_error = stream == 'E', .text = line.substr(kText)};
  const std::string time(line.substr(0, kTime));
  if (!absl::ParseTime(absl::RFC3339_full, time, &result.time, nullptr)) return std::nullopt;
  return result;
}

}  // namespace vernier::base
