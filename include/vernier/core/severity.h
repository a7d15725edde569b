#pragma once

#include <optional>
#include <string_view>

namespace vernier {

// Severity of a log line, in ascending order: the levels of Google Cloud Logging.
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
// Parses a name in any case. WARN and FATAL, which some loggers write, are WARNING and CRITICAL. nullopt: another name.
std::optional<Severity> ParseSeverity(std::string_view name);

}  // namespace vernier
