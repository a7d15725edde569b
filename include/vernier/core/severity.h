#pragma once

#include <optional>
#include <string_view>

namespace vernier {

// How much a log line matters, in growing order.
enum class Severity {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency,
};
// "WARNING", as on the wire.
std::string_view SeverityName(Severity severity);
// By name, in upper or lower case; WARN and FATAL, as some loggers say, are WARNING and CRITICAL.
std::optional<Severity> ParseSeverity(std::string_view name);

}  // namespace vernier
