#include "src/launch/log_line.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "nlohmann/json.hpp"
#include "src/launch/line_text.h"

namespace vernier::launch {
namespace {

using Json = nlohmann::json;

// Deepest JSON that is taken apart. A choice: loggers nest a few levels, and dump() recurses, so that a line of
// brackets alone could exhaust the stack.
constexpr int kDeepest = 32;

// Removes characters of `set` from the front. Returns their number.
std::size_t Take(std::string_view& text, std::string_view set) {
  const std::size_t count = std::min(text.find_first_not_of(set), text.size());
  text.remove_prefix(count);
  return count;
}

// Whether the text starts with the mask, in which 0 matches any digit.
bool BeginsLike(std::string_view text, std::string_view mask) {
  if (text.size() < mask.size()) return false;
  return std::ranges::equal(text.substr(0, mask.size()), mask, [](char c, char m) {
    return m == '0' ? IsDigit(c) : c == m;
  });
}

std::optional<Severity> SeverityOfLetter(char letter) {
  switch (letter) {
    case 'I':
      return Severity::kInfo;
    case 'W':
      return Severity::kWarning;
    case 'E':
      return Severity::kError;
    case 'F':
      return Severity::kCritical;
    default:
      return std::nullopt;
  }
}

// glog, Abseil: "W0102 03:04:05.678901 12345 file.cc:67] …".
std::optional<Severity> FromGlog(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.empty() || !BeginsLike(text.substr(1), "0000 00:00:")) return std::nullopt;
  const char letter = text.front();
  text.remove_prefix(12);
  const bool has_time =
      Take(text, kDigits) >= 2 && Take(text, ".") == 1 && Take(text, kDigits) == 6;
  const bool has_thread = has_time && Take(text, " ") > 0 && Take(text, kDigits) > 0;
  if (!has_thread || Take(text, " ") != 1) return std::nullopt;
  const std::string_view place = text.substr(0, text.find("] "));
  if (place.size() == text.size() || place.find(' ') != std::string_view::npos) return std::nullopt;
  const std::size_t colon = place.rfind(':');
  return colon != std::string_view::npos && colon + 1 < place.size() && IsDigit(place[colon + 1])
             ? SeverityOfLetter(letter)
             : std::nullopt;
}

// TensorFlow: "2026-01-02 03:04:05.678901: W tensorflow/…".
std::optional<Severity> FromTensorflow(std::string_view text) {
  constexpr std::string_view kHead = "0000-00-00 00:00:00.000000: ";
  if (!BeginsLike(text, kHead)) return std::nullopt;
  text.remove_prefix(kHead.size());
  return text.size() > 2 && text[1] == ' ' ? SeverityOfLetter(text[0]) : std::nullopt;
}

// Python's logging: "WARNING:name:…".
std::optional<Severity> FromPython(std::string_view text) {
  const std::string_view level = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(level.size());
  if (level.empty() || rest.find_first_of(": ", 1) == std::string_view::npos) return std::nullopt;
  if (rest[rest.find_first_of(": ", 1)] != ':') return std::nullopt;
  for (const Severity severity : {Severity::kDebug,
                                  Severity::kInfo,
                                  Severity::kWarning,
                                  Severity::kError,
                                  Severity::kCritical}) {
    if (level == SeverityName(severity)) return severity;
  }
  return std::nullopt;
}

Severity SeverityOfText(std::string_view text, bool is_stderr) {
  if (text.starts_with("[vernier] ")) return Severity::kWarning;
  for (const auto& read : {FromGlog, FromTensorflow, FromPython}) {
    if (const std::optional<Severity> severity = read(text)) return *severity;
  }
  return is_stderr ? Severity::kError : Severity::kInfo;
}

// Parses JSON; null if it is malformed or too deep.
Json ParseFlat(std::string_view text) {
  bool too_deep = false;
  Json parsed = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep |= depth > kDeepest;
        return depth <= kDeepest;
      },
      /*allow_exceptions=*/false);
  return too_deep ? Json() : parsed;
}

// Removes the field from the object and returns it; null if there is none.
Json Extract(Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

std::optional<Severity> ExtractSeverity(Json& object) {
  for (const char* key : {"severity", "levelname"}) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) continue;
    const std::optional<Severity> severity = ParseSeverity(found->get_ref<const std::string&>());
    if (severity.has_value()) {
      object.erase(found);
      return severity;
    }
  }
  return std::nullopt;
}

std::optional<absl::Time> TimeOfText(const Json& value) {
  absl::Time time;
  if (!value.is_string()) return std::nullopt;
  const bool ok =
      absl::ParseTime(absl::RFC3339_full, value.get_ref<const std::string&>(), &time, nullptr);
  return ok ? std::optional(time) : std::nullopt;
}

std::optional<absl::Time> TimeOfSeconds(const Json& seconds, const Json& nanos) {
  if (!seconds.is_number_integer()) return std::nullopt;
  const auto rest = nanos.is_number_integer() ? nanos.get<std::int64_t>() : 0;
  return absl::FromUnixSeconds(seconds.get<std::int64_t>()) + absl::Nanoseconds(rest);
}

// The time that a line states, in the fields of Google's structured logging ("Special fields in structured payloads",
// Cloud Logging) or of Python's LogRecord.
std::optional<absl::Time> ExtractTime(Json& object) {
  if (const auto time = TimeOfText(object.value("time", Json()))) {
    object.erase("time");
    return time;
  }
  const Json timestamp = object.value("timestamp", Json());
  std::optional<absl::Time> time = TimeOfText(timestamp);
  if (timestamp.is_object()) {
    time = TimeOfSeconds(timestamp.value("seconds", Json()), timestamp.value("nanos", Json()));
  }
  if (time.has_value()) {
    object.erase("timestamp");
    return time;
  }
  time = TimeOfSeconds(object.value("timestampSeconds", Json()),
                       object.value("timestampNanos", Json()));
  if (time.has_value()) {
    object.erase("timestampSeconds");
    object.erase("timestampNanos");
    return time;
  }
  const Json created = object.value("created", Json());
  // LogRecord.created is in seconds; larger numbers (milliseconds, say) would overflow a time or mean something else.
  if (!created.is_number() || std::abs(created.get<double>()) > 1e12) return std::nullopt;
  object.erase("created");
  return absl::UnixEpoch() + absl::Seconds(created.get<double>());
}

bool TakeApart(LogLine& line) {
  if (!line.text.starts_with('{')) return false;
  Json object = ParseFlat(line.text);
  if (!object.is_object() || !object.contains("message")) return false;
  const Json message = Extract(object, "message");
  line.message = message.is_string() ? message.get<std::string>() : message.dump();
  line.severity =
      ExtractSeverity(object).value_or(line.is_stderr ? Severity::kError : Severity::kInfo);
  line.stated = ExtractTime(object);
  if (!object.empty()) line.fields = object.dump();
  return true;
}

}  // namespace

void Interpret(LogLine& line) {
  if (!TakeApart(line)) line.severity = SeverityOfText(line.text, line.is_stderr);
}

}  // namespace vernier::launch
