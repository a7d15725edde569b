#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

// Times and durations as `gcloud` reads and writes them.
namespace vernier::gcloud {

// What relative times refer to, and the zone of times without one.
struct TimeFrame {
  absl::Time now;
  absl::TimeZone zone;
};

// Parses "2026-11-21", "2026-11-21T04:30", "2026-11-21T04:30:00.5Z", and relative to now "-P1D", "+PT2H".
std::optional<absl::Time> ParseMoment(std::string_view text, const TimeFrame& frame);

// Whether the text is a full date and time: "2026-11-21T04:30:00Z".
bool LooksLikeTime(std::string_view text);

// "P1DT2H", "-PT30M", "3600s", "90.5s".
std::optional<absl::Duration> ParseIsoDuration(std::string_view text);

struct DurationStyle {
  int parts = 3;         // Maximum number of parts, from the largest.
  int precision = 3;     // Decimals of seconds.
  bool calendar = true;  // Use days.
};
// "P1DT2H3M"; "P0" for zero.
std::string FormatIsoDuration(absl::Duration duration, const DurationStyle& style);

// Formats as strftime(3); "%3f" gives milliseconds, "%Oz" the zone as +01:00.
std::string FormatMoment(absl::Time time, std::string_view format, absl::TimeZone zone);

// The zone named "LOCAL", "UTC", "Z" or "Europe/Zurich"; nothing if unknown.
std::optional<absl::TimeZone> FindZone(const std::string& name, const TimeFrame& frame);

}  // namespace vernier::gcloud
