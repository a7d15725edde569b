// Times and ISO 8601 durations as gcloud reads them. A duration before a time is subtracted in the calendar: -P1M goes
// back one calendar month.

#include "src/cli/gcloud/moment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"

namespace vernier::gcloud {
namespace {

// The parts of a duration. Years, months and days stay apart from the rest, since their length depends on the calendar.
struct IsoParts {
  double years = 0;
  double months = 0;
  double days = 0;
  absl::Duration rest;
};

// Mean tropical year, for fractions and for durations without a date.
constexpr double kDaysPerYear = 365.2422;
constexpr double kDaysPerMonth = kDaysPerYear / 12;
// A choice: larger amounts are slips, and would overflow the calendar.
constexpr double kMost = 1e6;

// Adds one part, "3D". False: no such unit. "M" means months before the "T" and minutes after it.
bool AddPart(double amount, char unit, bool is_time, IsoParts& parts) {
  // Also refuses NaN.
  if (!(amount <= kMost * 1e4)) return false;
  switch (unit) {
    case 'Y':
      parts.years += amount;
      // Units of a date are allowed before the "T" only, those of a time after it.
      return !is_time;
    case 'W':
      parts.days += 7 * amount;
      return !is_time;
    case 'D':
      parts.days += amount;
      return !is_time;
    case 'H':
      parts.rest += amount * absl::Hours(1);
      return is_time;
    case 'M':
      if (is_time) {
        parts.rest += amount * absl::Minutes(1);
      } else {
        parts.months += amount;
      }
      return true;
    case 'S':
      parts.rest += amount * absl::Seconds(1);
      return is_time;
    default:
      return false;
  }
}

// "P1DT2H" without its sign.
std::optional<IsoParts> ParseParts(std::string_view text) {
  if (!text.starts_with('P') && !text.starts_with('p')) return std::nullopt;
  text.remove_prefix(1);
  IsoParts parts;
  bool is_time = false;
  bool has_part = false;
  while (!text.empty()) {
    if (absl::ascii_toupper(static_cast<unsigned char>(text.front())) == 'T') {
      is_time = true;
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find_first_not_of("0123456789.");
    double amount = 0;
    if (end == 0 || end == std::string_view::npos ||
        !absl::SimpleAtod(std::string(text.substr(0, end)), &amount)) {
      return std::nullopt;
    }
    const auto unit = absl::ascii_toupper(static_cast<unsigned char>(text[end]));
    if (!AddPart(amount, static_cast<char>(unit), is_time, parts)) return std::nullopt;
    has_part = true;
    text.remove_prefix(end + 1);
  }
  // "P" or "PT" alone is no duration.
  return has_part ? std::optional(parts) : std::nullopt;
}

std::optional<absl::Time> FromNow(std::string_view text, const TimeFrame& frame) {
  const int sign = text.front() == '-' ? -1 : 1;
  const std::optional<IsoParts> parts = ParseParts(text.substr(1));
  // Beyond these bounds the calendar's years would overflow.
  if (!parts || parts->years > kMost / 1000 || parts->months > kMost / 100 || parts->days > kMost) {
    return std::nullopt;
  }
  // Whole years, months and days are counted in the calendar.
  const absl::CivilSecond now = absl::ToCivilSecond(frame.now, frame.zone);
  const auto whole = [sign](double amount) { return sign * static_cast<int>(std::floor(amount)); };
  // CivilSecond carries: the 31st of a month with 30 days becomes the 1st of the next.
  const absl::CivilSecond shifted(now.year() + whole(parts->years),
                                  now.month() + whole(parts->months),
                                  now.day() + whole(parts->days),
                                  now.hour(),
                                  now.minute(),
                                  now.second());
  const double fraction = (parts->years - std::floor(parts->years)) * kDaysPerYear +
                          (parts->months - std::floor(parts->months)) * kDaysPerMonth +
                          (parts->days - std::floor(parts->days));
  // What is left over is added as elapsed time, after the calendar's part.
  return absl::FromCivil(shifted, frame.zone) + sign * (parts->rest + fraction * absl::Hours(24));
}

// Puts dashes into a date without separators, "20261121T04:30", which other tools write.
std::string WithDashes(std::string_view text) {
  constexpr std::size_t kDate = 8;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits != kDate) return std::string(text);
  return fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6));
}

}  // namespace

std::optional<absl::Time> ParseMoment(std::string_view text, const TimeFrame& frame) {
  if (text.starts_with("-P") || text.starts_with("+P") || text.starts_with("-p") ||
      text.starts_with("+p")) {
    return FromNow(text, frame);
  }
  // The first format that takes the whole text counts; the more exact ones come first.
  constexpr std::array kFormats = {absl::RFC3339_full,
                                   "%Y-%m-%d%ET%H:%M:%E*S%Ez",
                                   "%Y-%m-%d%ET%H:%M:%E*S%z",
                                   "%Y-%m-%d%ET%H:%M:%E*S",
                                   "%Y-%m-%d%ET%H:%M",
                                   "%Y-%m-%d%ET%H",
                                   "%Y-%m-%d %H:%M:%E*S%Ez",
                                   "%Y-%m-%d %H:%M:%E*S",
                                   "%Y-%m-%d %H:%M",
                                   "%Y-%m-%d",
                                   "%Y/%m/%d"};
  absl::Time time;
  const std::string dashed = WithDashes(text);
  for (const char* const format : kFormats) {
    if (absl::ParseTime(format, dashed, frame.zone, &time, nullptr)) return time;
  }
  return std::nullopt;
}

bool LooksLikeTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == '0'   ? absl::ascii_isdigit(static_cast<unsigned char>(text[i]))
                      : kForm[i] == 'T' ? text[i] == 'T' || text[i] == ' '
                                        : text[i] == kForm[i];
    if (!fits) return false;
  }
  return true;
}

std::optional<absl::Duration> ParseIsoDuration(std::string_view text) {
  double seconds = 0;
  // The form of the API, which is no ISO 8601.
  if (text.ends_with('s') &&
      absl::SimpleAtod(std::string(text.substr(0, text.size() - 1)), &seconds)) {
    return absl::Seconds(seconds);
  }
  int sign = 1;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  const std::optional<IsoParts> parts = ParseParts(text);
  if (!parts) return std::nullopt;
  const double days = parts->years * kDaysPerYear + parts->months * kDaysPerMonth + parts->days;
  return sign * (parts->rest + days * absl::Hours(24));
}

std::string FormatIsoDuration(absl::Duration duration, const DurationStyle& style) {
  std::string text = duration < absl::ZeroDuration() ? "-P" : "P";
  duration = absl::AbsDuration(duration);
  if (duration == absl::InfiniteDuration()) return text + "0";
  int parts = 0;
  bool in_time = false;
  const auto add = [&](const std::string& amount, char unit, bool is_time) {
    // Parts before the first that is not 0 do not count against `parts`.
    if (parts >= style.parts || (parts == 0 && amount == "0")) return;
    ++parts;
    // A 0 between two other parts is left out, but counts.
    if (amount == "0") return;
    if (is_time && !std::exchange(in_time, true)) text += 'T';
    text += amount + unit;
  };
  if (style.calendar) {
    add(std::to_string(absl::IDivDuration(duration, absl::Hours(24), &duration)), 'D', false);
  }
  add(std::to_string(absl::IDivDuration(duration, absl::Hours(1), &duration)), 'H', true);
  add(std::to_string(absl::IDivDuration(duration, absl::Minutes(1), &duration)), 'M', true);
  std::string seconds =
      fmt::format("{:.{}f}", absl::ToDoubleSeconds(duration), std::max(0, style.precision));
  if (seconds.find('.') != std::string::npos) {
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.') seconds.pop_back();
  }
  add(seconds, 'S', true);
  // Nothing was added: a duration of zero needs something behind the P.
  return text.back() == 'P' ? text + "0" : text;
}

std::string FormatMoment(absl::Time time, std::string_view format, absl::TimeZone zone) {
  const std::string plain =
      absl::StrReplaceAll(std::string(format), {{"%3f", "%E3f"}, {"%6f", "%E6f"}, {"%Oz", "%Ez"}});
  return absl::FormatTime(plain, time, zone);
}

std::optional<absl::TimeZone> FindZone(const std::string& name, const TimeFrame& frame) {
  if (name.empty() || absl::AsciiStrToUpper(name) == "LOCAL") return frame.zone;
  if (absl::AsciiStrToUpper(name) == "Z") return absl::UTCTimeZone();
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(name, &zone)) return std::nullopt;
  return zone;
}

}  // namespace vernier::gcloud
