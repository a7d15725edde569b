#include "algorithms/grid/grid_axis.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "vernier/core/unit_cube.h"

namespace vernier::grid {
namespace {

std::optional<std::int64_t> Points(const Parameter& parameter) {
  if (const auto* real = std::get_if<FloatDomain>(&parameter.domain)) return real->points;
  if (const auto* whole = std::get_if<IntDomain>(&parameter.domain)) return whole->points;
  return std::nullopt;
}

bool IsContinuous(const Parameter& parameter) {
  return std::holds_alternative<FloatDomain>(parameter.domain) && !ValueCount(parameter);
}

// Returns the lowest and the highest value. For a continuous float they are the user's bounds: on a logarithmic scale,
// mapping to the unit cube and back would round them.
std::pair<ParameterValue, ParameterValue> Ends(const Parameter& parameter) {
  if (!IsContinuous(parameter)) return {FromUnit(parameter, 0), FromUnit(parameter, 1)};
  const FloatDomain& domain = std::get<FloatDomain>(parameter.domain);
  return {domain.lower, domain.upper};
}

sampling::Axis SpreadValues(const Parameter& parameter, std::int64_t points) {
  if (points == 1) return sampling::ListedValues({FromUnit(parameter, 0.5)});
  const auto [lowest, highest] = Ends(parameter);
  const double from = ToUnit(parameter, lowest);
  const double to = ToUnit(parameter, highest);
  std::vector<ParameterValue> values = {lowest};
  for (std::int64_t i = 1; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    ParameterValue value =
        i == points - 1 ? highest : FromUnit(parameter, from + share * (to - from));
    if (values.back() != value) values.push_back(std::move(value));
  }
  return sampling::ListedValues(std::move(values));
}

}  // namespace

absl::StatusOr<sampling::Axis> GridAxis(const Parameter& parameter) {
  const std::optional<std::int64_t> points = Points(parameter);
  const std::optional<std::int64_t> count = ValueCount(parameter);
  if (count && (!points || *points >= *count)) return sampling::AllValues(parameter);
  const bool is_float = std::holds_alternative<FloatDomain>(parameter.domain);
  const std::string path =
      fmt::format("parameters.{}.{}", parameter.name, is_float ? "float" : "int");
  if (!points) {
    return FieldError(path,
                      is_float ? "a grid needs 'points' or a 'step' for a float"
                               : "a grid needs 'points' for an integer with 2^62 values or more");
  }
  if (*points > kMaxListedPoints) {
    return FieldError(
        path, fmt::format("a grid takes at most {} points, got {}", kMaxListedPoints, *points));
  }
  return SpreadValues(parameter, *points);
}

}  // namespace vernier::grid
