// NAME=VALUE arguments of `trial add`, `study predict`, `study stopping-report` and `report`. Errors name the parameter or option, quote the
// value, and suggest the nearest name.

#include "src/cli/assignment.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using Assignment = std::pair<std::string, std::string>;

absl::StatusOr<Assignment> Split(const std::string& text, std::string_view what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument("{}: must be NAME=VALUE, got '{}'", what, text);
  }
  return Assignment{text.substr(0, equals), text.substr(equals + 1)};
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Parses text as a value in the type of a parameter's domain. Bounds are left to the server, which checks every point.
struct ValueParser {
  const std::string& name;
  const std::string& text;

  absl::StatusOr<ParameterValue> operator()(const FloatDomain&) const { return Number(); }
  absl::StatusOr<ParameterValue> operator()(const DiscreteDomain&) const { return Number(); }
  absl::StatusOr<ParameterValue> operator()(const IntDomain&) const {
    if (const auto integer = ParseNumber<std::int64_t>(text)) return ParameterValue(*integer);
    return InvalidArgument("{}: must be an integer, got '{}'", name, text);
  }
  absl::StatusOr<ParameterValue> operator()(const BoolDomain&) const {
    if (text == "true") return ParameterValue(true);
    if (text == "false") return ParameterValue(false);
    return InvalidArgument("{}: must be true or false, got '{}'", name, text);
  }
  // Compared as text: a list may hold texts, numbers and booleans, and the user types what `study show` prints.
  absl::StatusOr<ParameterValue> operator()(const CategoricalDomain& domain) const {
    std::vector<std::string> known;
    for (const ParameterValue& value : domain.values) {
      known.push_back(FormatValue(value));
      if (known.back() == text) return value;
    }
    return InvalidArgument("{}: has no value '{}'{}", name, text, NearestHint(text, known));
  }

 private:
  absl::StatusOr<ParameterValue> Number() const {
    if (const auto number = ParseNumber<double>(text)) return ParameterValue(*number);
    return InvalidArgument("{}: must be a number, got '{}'", name, text);
  }
};

ParameterValue PlainValue(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = ParseNumber<std::int64_t>(text)) return *integer;
  if (const auto number = ParseNumber<double>(text)) return *number;
  return text;
}

}  // namespace

absl::StatusOr<Point> ParsePoint(const Space& space, const std::vector<std::string>& assignments) {
  std::vector<std::string> known;
  for (const Parameter& parameter : space.parameters()) known.push_back(parameter.name);
  Point point;
  for (const std::string& text : assignments) {
    VERNIER_ASSIGN_OR_RETURN(const Assignment assignment, Split(text, "parameter"));
    const auto& [name, value] = assignment;
    const auto index = space.Find(name);
    if (!index) return InvalidArgument("no parameter '{}'{}", name, NearestHint(name, known));
    if (point.contains(name)) return InvalidArgument("{}: given twice", name);
    const Parameter& parameter = space.parameters()[static_cast<std::size_t>(*index)];
    VERNIER_ASSIGN_OR_RETURN(point[name], std::visit(ValueParser{name, value}, parameter.domain));
  }
  return point;
}

absl::StatusOr<std::map<std::string, double>> ParseMetrics(
    const std::string& option, const std::vector<std::string>& assignments) {
  std::map<std::string, double> metrics;
  for (const std::string& text : assignments) {
    VERNIER_ASSIGN_OR_RETURN(const Assignment assignment, Split(text, option));
    const auto& [name, value] = assignment;
    const auto number = ParseNumber<double>(value);
    if (!number) return InvalidArgument("{} {}: must be a number, got '{}'", option, name, value);
    if (!metrics.emplace(name, *number).second) {
      return InvalidArgument("{} {}: given twice", option, name);
    }
  }
  return metrics;
}

absl::StatusOr<std::map<std::string, ParameterValue>> ParseOptions(
    const std::string& option, const std::vector<std::string>& assignments) {
  std::map<std::string, ParameterValue> options;
  for (const std::string& text : assignments) {
    VERNIER_ASSIGN_OR_RETURN(const Assignment assignment, Split(text, option));
    const auto& [name, value] = assignment;
    if (!options.emplace(name, PlainValue(value)).second) {
      return InvalidArgument("{} {}: given twice", option, name);
    }
  }
  return options;
}

}  // namespace vernier::cli
