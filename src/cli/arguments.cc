// Options that several commands share. Numbers are parsed here and not by CLI11, whose own messages name neither the
// bound nor the value in the form of other errors.

#include "src/cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "fmt/format.h"
#include "src/codec/study_file.h"
#include "src/core/byte_size.h"
#include "src/core/status.h"
#include "src/core/study_name.h"

namespace vernier::cli {
namespace {

// The text as a number; nothing if anything is left over.
template <typename Number>
std::optional<Number> ParseAs(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Names are checked while parsing, so that a slip is reported without opening a store or a connection.
CLI::Validator NameOfStudy() {
  return CLI::Validator(
      [](const std::string& text) {
        return IsStudyName(text) ? std::string() : NotAStudyName(text);
      },
      "");
}

}  // namespace

void AddStudyOption(CLI::App& command, std::string& study) {
  command.add_option("STUDY", study, "Name of the study")->required()->check(NameOfStudy());
}

void AddTrialOptions(CLI::App& command, std::string& study, std::string& trial) {
  AddStudyOption(command, study);
  command.add_option("TRIAL", trial, "Number of the trial, or best, or last")->required();
}

void AddQueryOptions(CLI::App& command, const char* filter, const char* sort, Query& query) {
  command.add_option(
      "--filter", query.filter, fmt::format("{}; OR binds tighter than AND", filter));
  command.add_option("--sort", query.sort, sort);
  command.add_option("--limit", query.limit, "Show at most this many")->check(AtLeast(1));
}

CLI::Validator AtLeast(std::int64_t least) {
  return CLI::Validator(
      [least](const std::string& text) {
        const auto number = ParseAs<std::int64_t>(text);
        if (number && *number >= least) return std::string();
        return fmt::format("must be a whole number of at least {}, got '{}'", least, text);
      },
      "");
}

CLI::Validator Port() {
  return CLI::Validator(
      [](const std::string& text) {
        const auto number = ParseAs<std::int32_t>(text);
        if (number && *number >= 1024 && *number <= 65535) return std::string();
        return fmt::format("must be a port from 1024 to 65535, got '{}'", text);
      },
      "");
}

absl::StatusOr<absl::Duration> ParseDurationFlag(std::string_view option, const std::string& text) {
  absl::StatusOr<absl::Duration> duration = codec::ParseDuration(text);
  if (duration.ok()) return duration;
  return InvalidArgument("{}: {}", option, std::string(duration.status().message()));
}

absl::StatusOr<absl::Time> ParseTimeFlag(std::string_view option,
                                         const std::string& text,
                                         absl::Time now,
                                         absl::TimeZone zone) {
  // First, since no date or time of day is a valid duration.
  const absl::StatusOr<absl::Duration> before = codec::ParseDuration(text);
  if (before.ok()) return now - *before;
  const std::string today = absl::FormatTime("%Y-%m-%d", now, zone);
  // %E*S takes seconds with or without a fraction. The year must have four digits, or absl would read "01:29" as a
  // year.
  const bool is_date = text.size() >= today.size() && text[4] == '-';
  const std::string moment = is_date ? text : today + "T" + text;
  absl::Time time;
  for (const char* format : {"%Y-%m-%d%ET%H:%M:%E*S%Ez",
                             "%Y-%m-%d%ET%H:%M:%E*S",
                             "%Y-%m-%d%ET%H:%M%Ez",
                             "%Y-%m-%d%ET%H:%M",
                             "%Y-%m-%d %H:%M:%E*S%Ez",
                             "%Y-%m-%d %H:%M:%E*S",
                             "%Y-%m-%d %H:%M",
                             "%Y-%m-%d"}) {
    if (absl::ParseTime(format, moment, zone, &time, nullptr)) return time;
  }
  return InvalidArgument(
      "{}: must be a time such as 10m (before now), 01:29 (today), 2026-11-21 or "
      "2026-11-21T04:12:13Z, got '{}'",
      option,
      text);
}

absl::StatusOr<Severity> ParseSeverityFlag(std::string_view option, const std::string& text) {
  if (const std::optional<Severity> severity = ParseSeverity(text)) return *severity;
  return InvalidArgument(
      "{}: must be one of debug, info, notice, warning, error, critical, alert, emergency, got "
      "'{}'",
      option,
      text);
}

absl::StatusOr<double> ParseNumberFlag(std::string_view option, const std::string& text) {
  const auto number = ParseAs<double>(text);
  if (number && *number > 0 && std::isfinite(*number)) return *number;
  return InvalidArgument("{}: must be a finite number above 0, got '{}'", option, text);
}

absl::StatusOr<std::int64_t> ParseCountFlag(std::string_view option, const std::string& text) {
  const auto count = ParseAs<std::int64_t>(text);
  if (count && *count >= 1) return *count;
  return InvalidArgument("{}: must be a whole number of at least 1, got '{}'", option, text);
}

absl::StatusOr<std::int64_t> ParseBytesFlag(std::string_view option, const std::string& text) {
  const std::string problem = ProblemOfAmount(text);
  if (!problem.empty()) return InvalidArgument("{}: {}", option, problem);
  return *ParseByteCount(text);
}

}  // namespace vernier::cli
