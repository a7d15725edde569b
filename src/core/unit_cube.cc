#include "vernier/core/unit_cube.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/core/check.h"
#include "src/core/domain.h"

namespace vernier {
namespace {

constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 62;

// Maps an interval to [0, 1] by its scale, and back. The reverse logarithmic scale is the logarithmic one mirrored: x
// is replaced by low + high - x and u by 1 - u.
struct Axis {
  double low;
  double high;
  Scale scale;

  double ToUnit(double x) const {
    // A single value is the middle of its only cell.
    if (low == high) return 0.5;
    switch (scale) {
      case Scale::kLinear:
        return (x - low) / (high - low);
      case Scale::kLog:
        return Logarithmic(x);
      case Scale::kReverseLog:
        return 1 - Logarithmic(low + (high - x));
    }
    return 0.5;
  }

  double FromUnit(double u) const {
    // Exact at the ends, which rounding of the logarithm would miss.
    if (u <= 0) return low;
    if (u >= 1) return high;
    switch (scale) {
      case Scale::kLinear:
        return low + u * (high - low);
      case Scale::kLog:
        return Exponential(u);
      case Scale::kReverseLog:
        return low + (high - Exponential(1 - u));
    }
    return low;
  }

 private:
  double Logarithmic(double x) const {
    return (std::log(x) - std::log(low)) / (std::log(high) - std::log(low));
  }
  double Exponential(double u) const {
    return std::exp(std::log(low) + u * (std::log(high) - std::log(low)));
  }
};

// The interval of the grid's cells: half a step more at both ends, but less at the lower end if a logarithmic scale
// would reach 0.
Axis PaddedAxis(const Grid& grid) {
  const double high = grid.lower + static_cast<double>(grid.last) * grid.step;
  double padding = grid.step / 2;
  if (grid.scale != Scale::kLinear) padding = std::min(padding, grid.lower / 2);
  return {.low = grid.lower - padding, .high = high + padding, .scale = grid.scale};
}

double CellMiddle(std::uint64_t i, double count) { return (static_cast<double>(i) + 0.5) / count; }

std::uint64_t CellAt(double u, std::uint64_t last) {
  const double cell = std::floor(u * (static_cast<double>(last) + 1));
  // u = 1 belongs to the last cell.
  return cell >= static_cast<double>(last) ? last : static_cast<std::uint64_t>(cell);
}

// On a linear scale by the index alone, since values of a wide integer range do not fit a double.
double GridToUnit(const Grid& grid, std::uint64_t i) {
  if (grid.scale == Scale::kLinear) return CellMiddle(i, static_cast<double>(grid.last) + 1);
  const double u = PaddedAxis(grid).ToUnit(grid.lower + static_cast<double>(i) * grid.step);
  return std::clamp(u, 0.0, 1.0);
}

std::uint64_t GridFromUnit(const Grid& grid, double u) {
  if (grid.scale == Scale::kLinear) return CellAt(u, grid.last);
  const double cell = std::floor((PaddedAxis(grid).FromUnit(u) - grid.lower) / grid.step + 0.5);
  if (!(cell > 0)) return 0;
  return cell >= static_cast<double>(grid.last) ? grid.last : static_cast<std::uint64_t>(cell);
}

ParameterValue GridValue(const Domain& domain, std::uint64_t i) {
  if (const auto* const x = std::get_if<IntDomain>(&domain)) {
    const auto step = static_cast<std::uint64_t>(x->step.value_or(1));
    // Unsigned arithmetic wraps around to the right value for any range.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x->lower) + i * step);
  }
  return GridFloat(std::get<FloatDomain>(domain), static_cast<std::int64_t>(i));
}

ParameterValue ListValue(const Domain& domain, std::size_t i) {
  if (const auto* const x = std::get_if<DiscreteDomain>(&domain)) return x->values[i];
  if (const auto* const x = std::get_if<CategoricalDomain>(&domain)) return x->values[i];
  return i == 1;
}

Axis ContinuousAxis(const FloatDomain& domain) {
  return {.low = domain.lower, .high = domain.upper, .scale = domain.scale};
}

// The index of a value in its grid or list. Unlike ValueCount, also for ranges of more than 2^62 values.
std::uint64_t GridIndex(const Parameter& parameter, const ParameterValue& value) {
  const std::optional<std::int64_t> i = FindIndex(parameter.domain, value);
  VERNIER_CHECK(i.has_value(), "the value is not legal for its parameter");
  return static_cast<std::uint64_t>(*i);
}

}  // namespace

std::optional<std::int64_t> ValueCount(const Parameter& parameter) {
  if (const auto size = ListSize(parameter.domain)) return size;
  const std::optional<Grid> grid = GridOf(parameter.domain);
  if (!grid.has_value() || grid->last >= kMaxValues) return std::nullopt;
  return static_cast<std::int64_t>(grid->last) + 1;
}

ParameterValue ValueAt(const Parameter& parameter, std::int64_t i) {
  if (const auto size = ListSize(parameter.domain)) {
    VERNIER_CHECK(i >= 0 && i < *size, "no such value");
    return ListValue(parameter.domain, static_cast<std::size_t>(i));
  }
  const std::optional<Grid> grid = GridOf(parameter.domain);
  VERNIER_CHECK(grid.has_value(), "a continuous float has no i-th value");
  VERNIER_CHECK(i >= 0 && static_cast<std::uint64_t>(i) <= grid->last, "no such value");
  return GridValue(parameter.domain, static_cast<std::uint64_t>(i));
}

std::int64_t IndexOf(const Parameter& parameter, const ParameterValue& value) {
  return static_cast<std::int64_t>(GridIndex(parameter, value));
}

double ToUnit(const Parameter& parameter, const ParameterValue& value) {
  if (const auto size = ListSize(parameter.domain)) {
    return CellMiddle(GridIndex(parameter, value), static_cast<double>(*size));
  }
  if (const std::optional<Grid> grid = GridOf(parameter.domain)) {
    return GridToUnit(*grid, GridIndex(parameter, value));
  }
  const Axis axis = ContinuousAxis(std::get<FloatDomain>(parameter.domain));
  // Logarithm and exponential may round beyond the ends.
  return std::clamp(axis.ToUnit(std::get<double>(value)), 0.0, 1.0);
}

ParameterValue FromUnit(const Parameter& parameter, double u) {
  u = u > 0 ? std::min(u, 1.0) : 0.0;  // NaN counts as 0.
  if (const auto size = ListSize(parameter.domain)) {
    return ListValue(parameter.domain, CellAt(u, static_cast<std::uint64_t>(*size) - 1));
  }
  if (const std::optional<Grid> grid = GridOf(parameter.domain)) {
    return GridValue(parameter.domain, GridFromUnit(*grid, u));
  }
  const auto& domain = std::get<FloatDomain>(parameter.domain);
  return std::clamp(ContinuousAxis(domain).FromUnit(u), domain.lower, domain.upper);
}

Point DecodePoint(const Space& space, std::span<const double> u) {
  const std::vector<Parameter>& parameters = space.parameters();
  VERNIER_CHECK(u.size() == parameters.size(), "one coordinate per parameter");
  Point point;
  for (const int index : space.parents_first()) {
    // Parents come first. Coordinates of inactive parameters have no effect.
    if (!space.IsActive(index, point)) continue;
    const auto i = static_cast<std::size_t>(index);
    point.emplace(parameters[i].name, FromUnit(parameters[i], u[i]));
  }
  return point;
}

std::vector<std::optional<double>> EncodePoint(const Space& space, const Point& point) {
  std::vector<std::optional<double>> u;
  u.reserve(space.parameters().size());
  for (const Parameter& parameter : space.parameters()) {
    const auto found = point.find(parameter.name);
    u.push_back(found == point.end() ? std::nullopt
                                     : std::optional(ToUnit(parameter, found->second)));
  }
  return u;
}

std::vector<double> EmbedPoint(const Space& space, const Point& point) {
  std::vector<double> coordinates;
  coordinates.reserve(space.parameters().size());
  for (const Parameter& parameter : space.parameters()) {
    const auto found = point.find(parameter.name);
    const bool is_category = std::holds_alternative<CategoricalDomain>(parameter.domain) ||
                             std::holds_alternative<BoolDomain>(parameter.domain);
    if (!is_category) {
      coordinates.push_back(found == point.end() ? 0.5 : ToUnit(parameter, found->second));
      continue;
    }
    const auto count = static_cast<std::size_t>(ValueCount(parameter).value_or(0));
    // Two such vectors are a distance of 1 apart; the middle is equally far from all.
    const double side = std::numbers::sqrt2 / 2;
    const bool is_active = found != point.end();
    const double other = is_active ? 0.0 : side / static_cast<double>(count);
    const std::size_t first = coordinates.size();
    coordinates.resize(first + count, other);
    if (is_active) {
      coordinates[first + static_cast<std::size_t>(IndexOf(parameter, found->second))] = side;
    }
  }
  return coordinates;
}

}  // namespace vernier
