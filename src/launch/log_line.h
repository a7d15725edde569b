#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/severity.h"

// Lines of a replica's output as values.
namespace vernier::launch {

// A line that a replica printed, with its meaning.
struct LogLine {
  absl::Time time;  // When it was complete; never decreases within a replica.
  std::string role;
  std::int32_t index = 0;
  bool is_stderr = false;
  std::string text;  // Any bytes but a newline.

  // Filled in by Interpret:
  Severity severity = Severity::kInfo;
  std::optional<std::string> message;  // Of a JSON line.
  std::optional<absl::Time> stated;    // The time that a JSON line states.
  std::string fields;  // The other fields of a JSON line, as an object; empty: none.
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Sets severity, message, stated and fields from text and is_stderr.
//
// A line that is a JSON object with a `message` is split into: its severity, from `severity` or `levelname`; its time,
// from `time`, `timestamp`, `timestampSeconds` with `timestampNanos`, or `created`; the other fields. For other lines,
// the severity comes from the default heads of glog, TensorFlow and Python's logging; Vernier's own lines, "[vernier]
// …", are warnings. All else is INFO on stdout and ERROR on stderr, as in AI Platform Training.
void Interpret(LogLine& line);

// Selects lines.
struct LogFilter {
  std::string role;                   // Empty: all roles.
  std::optional<std::int32_t> index;  // Unset: every replica of the role.
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();  // Exclusive.
  Severity least = Severity::kDebug;
};

}  // namespace vernier::launch
