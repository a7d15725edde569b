#include "vernier/core/severity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/core/check.h"

namespace vernier {
namespace {

// SeverityName takes the first name of a severity, so that synonyms stand last.
constexpr std::array<std::pair<std::string_view, Severity>, 10> kNames = {{
    {"DEBUG", Severity::kDebug},
    {"INFO", Severity::kInfo},
    {"NOTICE", Severity::kNotice},
    {"WARNING", Severity::kWarning},
    {"ERROR", Severity::kError},
    {"CRITICAL", Severity::kCritical},
    {"ALERT", Severity::kAlert},
    {"EMERGENCY", Severity::kEmergency},
    {"WARN", Severity::kWarning},
    {"FATAL", Severity::kCritical},
}};

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

std::string_view SeverityName(Severity severity) {
  const auto* found =
      std::ranges::find(kNames, severity, &std::pair<std::string_view, Severity>::second);
  VERNIER_CHECK(found != kNames.end(), "a severity has no name");
  return found->first;
}

std::optional<Severity> ParseSeverity(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kNames, [&](const auto& pair) { return std::ranges::equal(name, pair.first, {}, Upper); });
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace vernier
