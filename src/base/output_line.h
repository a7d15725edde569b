#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

// How the captured output of a replica is kept: one line of text for each line that the program wrote,
//
//   2026-11-21T04:12:13.123456Z O the text
//
// with the time at which the line was complete (UTC, always six decimals) and O for stdout or E for stderr. The text may
// hold any byte but a newline.
namespace vernier::base {

struct OutputLine {
  absl::Time time;
  bool is_error = false;  // From stderr.
  std::string_view text;  // A part of what was parsed.
};

// `line` is without its newline. Nothing if it is not of that form, as the torn end of a file may be.
inline std::optional<OutputLine> ParseOutputLine(std::string_view line) {
  constexpr std::size_t kTime = 27;  // 2026-11-21T04:12:13.123456Z
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
