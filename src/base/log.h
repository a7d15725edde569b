#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"

// Logging at the edges: service, launch, app, cli. One line on stderr for each call:
//   2026-11-21 04:12:13.123 info trial finished study=digits trial=7
namespace vernier::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// A named value of a log line; formatted on construction.
struct LogField {
  template <typename T>
  LogField(std::string_view field_name, const T& field_value)
      : name(field_name), value(fmt::format("{}", field_value)) {}
  std::string_view name;
  std::string value;
};

// Writes a line: Log(LogLevel::kInfo, "trial finished", {{"study", "digits"}, {"trial", 7}}). Thread-safe.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// Drops lines below `level`. The default is kInfo.
void SetLogLevel(LogLevel level);

}  // namespace vernier::base
