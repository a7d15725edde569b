#include "algorithms/grid/grid_axis.h"

#include <optional>
#include <string_view>
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

// The ends exactly as the user wrote them: an exponential of a logarithm can miss them by a rounding.
ParameterValue ContinuousValue(const Parameter& parameter, std::int64_t i, std::int64_t points) {
  const FloatDomain& domain = std::get<FloatDomain>(parameter.domain);
  if (points == 1) return FromUnit(parameter, 0.5);
  if (i == 0) return domain.lower;
  if (i == points - 1) return domain.upper;
  return FromUnit(parameter, static_cast<double>(i) / static_cast<double>(points - 1));
}

// Of a parameter with `count` values, more than one.
ParameterValue FiniteValue(const Parameter& parameter,
                           std::int64_t i,
                           std::int64_t points,
                           std::int64_t count) {
  if (points == 1) return FromUnit(parameter, 0.5);
  if (i == 0) return ValueAt(parameter, 0);
  if (i == points - 1) return ValueAt(parameter, count - 1);
  const double lowest = ToUnit(parameter, ValueAt(parameter, 0));
  const double highest = ToUnit(parameter, ValueAt(parameter, count - 1));
  const double share = static_cast<double>(i) / static_cast<double>(points - 1);
  return FromUnit(parameter, lowest + share * (highest - lowest));
}

sampling::Axis SpreadValues(const Parameter& parameter,
                            std::int64_t points,
                            std::optional<std::int64_t> count) {
  std::vector<ParameterValue> values;
  for (std::int64_t i = 0; i < points; ++i) {
    ParameterValue value =
        count ? FiniteValue(parameter, i, points, *count) : ContinuousValue(parameter, i, points);
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return sampling::ListedValues(std::move(values));
}

}  // namespace

absl::StatusOr<sampling::Axis> GridAxis(const Parameter& parameter) {
  const std::optional<std::int64_t> points = Points(parameter);
  const std::optional<std::int64_t> count = ValueCount(parameter);
  if (count && (!points || *points >= *count)) return sampling::AllValues(parameter);
  const std::string_view kind =
      std::holds_alternative<FloatDomain>(parameter.domain) ? "float" : "int";
  const std::string path = fmt::format("parameters.{}.{}", parameter.name, kind);
  if (!points) return FieldError(path, "a grid needs 'points' or a 'step' for a float");
  if (*points > kMaxListedPoints) {
    return FieldError(
        path, fmt::format("a grid takes at most {} points, got {}", kMaxListedPoints, *points));
  }
  return SpreadValues(parameter, *points, count);
}

}  // namespace vernier::grid
