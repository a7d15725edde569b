#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/severity.h"

// What a replica printed, as values.
namespace vernier::launch {

// A line that a replica printed, and what it says.
struct LogLine {
  absl::Time time;  // When it was complete. Those of a replica never go back.
  std::string role;
  std::int32_t index = 0;
  bool is_stderr = false;
  std::string text;  // Any bytes but a newline.

  // The rest follows from the text: see Interpret.
  Severity severity = Severity::kInfo;
  std::optional<std::string> message;  // Of a line that is JSON.
  std::optional<absl::Time> stated;    // When it says that it was written, if it is JSON and does.
  std::string fields;  // What else a line of JSON holds, as a JSON object; empty: nothing.
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Fills in what follows from text and is_stderr.
//
// A line that is a JSON object with a `message` is taken apart: `severity` or `levelname` by name; `time`, `timestamp`,
// `timestampSeconds` with `timestampNanos`, or `created` as its time; the other fields. Of other lines the heads that glog,
// TensorFlow and Python's logging write by default tell the severity, and what Vernier says itself, "[vernier] …", is a
// warning. All else is INFO on stdout and ERROR on stderr.
void Interpret(LogLine& line);

// Which lines to read.
struct LogFilter {
  std::string role;                   // Empty: all.
  std::optional<std::int32_t> index;  // None: every replica of the role.
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();  // Itself excluded.
  Severity least = Severity::kDebug;
};

}  // namespace vernier::launch
