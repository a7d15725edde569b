#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

// Times and durations as `gcloud` reads and writes them.
namespace vernier::gcloud {

// What times are relative to, and the zone of those that name none.
struct TimeFrame {
  absl::Time now;
  absl::TimeZone zone;
};

// "2026-11-21", "2026-11-21T04:30", "2026-11-21T04:30:00.5Z", and from now on "-P1D", "+PT2H".
std::optional<absl::Time> ParseMoment(std::string_view text, const TimeFrame& frame);

// Whether a value is a time with a date: "2026-11-21T04:30:00Z".
bool LooksLikeTime(std::string_view text);

// "P1DT2H", "-PT30M", "3600s", "90.5s".
std::optional<absl::Duration> ParseIsoDuration(std::string_view text);

struct DurationStyle {
  int parts = 3;         // At most so many, from the largest.
  int precision = 3;     // Digits after the point of seconds.
  bool calendar = true;  // Days, too.
};
// "P1DT2H3M"; "P0" for none.
std::string FormatIsoDuration(absl::Duration duration, const DurationStyle& style);

// As strftime(3); "%3f" are milliseconds, "%Oz" is the zone as +01:00.
std::string FormatMoment(absl::Time time, std::string_view format, absl::TimeZone zone);

// "LOCAL", "UTC", "Z", "Europe/Zurich"; nothing for another.
std::optional<absl::TimeZone> FindZone(const std::string& name, const TimeFrame& frame);

}  // namespace vernier::gcloud
