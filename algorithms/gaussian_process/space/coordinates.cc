#include "algorithms/gaussian_process/space/coordinates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <variant>

#include "vernier/core/unit_cube.h"

namespace vernier::gp {
namespace {

// Largest number of values whose coordinates are tabulated. A choice: 32 KiB for a parameter.
constexpr std::int64_t kMaxTable = 4096;
// Largest difference of two coordinates of a parent that denote the same value. A choice: far above the rounding of a
// conversion to the unit cube and back, far below the distance of two values that a user writes down.
constexpr double kSameValue = 1e-12;

bool IsUnordered(const Domain& domain) {
  return std::holds_alternative<CategoricalDomain>(domain) ||
         std::holds_alternative<BoolDomain>(domain);
}

// Whether all values own cells of the same width, so that an index is a multiplication away. On a logarithmic scale
// they do not.
bool HasEqualCells(const Domain& domain) {
  if (const auto* f = std::get_if<FloatDomain>(&domain)) return f->scale == Scale::kLinear;
  if (const auto* i = std::get_if<IntDomain>(&domain)) return i->scale == Scale::kLinear;
  return true;
}

}  // namespace

CoordinateSpace::CoordinateSpace(const Space& space) : space_(space) {
  for (const Parameter& parameter : space.parameters()) axes_.push_back(MakeAxis(parameter));
  for (int k = 0; k < size(); ++k) {
    for (const ConditionOnAxis& on : axes_[k].conditions) axes_[on.parent].has_children = true;
  }
}

CoordinateSpace::Axis CoordinateSpace::MakeAxis(const Parameter& parameter) const {
  Axis axis{.kind = Kind::kContinuous};
  if (const std::optional<std::int64_t> count = ValueCount(parameter)) {
    axis.count = *count;
    axis.kind = *count == 1                     ? Kind::kConstant
                : IsUnordered(parameter.domain) ? Kind::kCategorical
                                                : Kind::kOrdered;
    axis.equal_cells = HasEqualCells(parameter.domain);
    for (std::int64_t i = 0; i < *count && *count <= kMaxTable; ++i) {
      axis.cells.push_back(ToUnit(parameter, ValueAt(parameter, i)));
    }
  }
  for (const Condition& condition : parameter.when) {
    const int parent = *space_.Find(condition.parent);
    ConditionOnAxis on{.parent = parent, .values = {}};
    for (const ParameterValue& value : condition.values) {
      on.values.push_back(ToUnit(space_.parameters()[static_cast<std::size_t>(parent)], value));
    }
    axis.conditions.push_back(std::move(on));
  }
  return axis;
}

double CoordinateSpace::CellOf(int parameter, std::int64_t i) const {
  const Axis& axis = axes_[parameter];
  if (!axis.cells.empty()) return axis.cells[static_cast<std::size_t>(i)];
  const Parameter& definition = space_.parameters()[static_cast<std::size_t>(parameter)];
  return ToUnit(definition, ValueAt(definition, i));
}

std::int64_t CoordinateSpace::IndexAt(int parameter, double u) const {
  const Axis& axis = axes_[parameter];
  if (axis.equal_cells) {
    const double index = std::floor(std::clamp(u, 0.0, 1.0) * static_cast<double>(axis.count));
    return std::min(static_cast<std::int64_t>(index), axis.count - 1);
  }
  const Parameter& definition = space_.parameters()[static_cast<std::size_t>(parameter)];
  return IndexOf(definition, FromUnit(definition, u));
}

void CoordinateSpace::Round(std::span<double> u) const {
  for (int k = 0; k < size(); ++k) {
    double& coordinate = u[static_cast<std::size_t>(k)];
    coordinate =
        axes_[k].count == 0 ? std::clamp(coordinate, 0.0, 1.0) : CellOf(k, IndexAt(k, coordinate));
  }
}

void CoordinateSpace::Activity(std::span<const double> u, std::vector<char>& active) const {
  active.assign(axes_.size(), 1);
  // Parents first: the activity of a parent is final when its children look at it, so one pass is enough.
  for (const int k : space_.parents_first()) {
    for (const ConditionOnAxis& on : axes_[k].conditions) {
      const double parent = u[static_cast<std::size_t>(on.parent)];
      const bool holds = std::any_of(on.values.begin(), on.values.end(), [parent](double value) {
        return std::abs(parent - value) <= kSameValue;
      });
      if (!active[on.parent] || !holds) active[k] = 0;
    }
  }
}

Point CoordinateSpace::Decode(std::span<const double> u) const { return DecodePoint(space_, u); }

Coordinates CoordinateSpace::Encode(const Point& point) const {
  return Encode(CellsOf(space_, point));
}

Coordinates CoordinateSpace::Encode(std::span<const Cell> cells) const {
  // Inactive parameters keep the middle of their range: a search that activates them starts there.
  Coordinates u(cells.size(), 0.5);
  for (std::size_t k = 0; k < u.size(); ++k) {
    const int parameter = static_cast<int>(k);
    const bool is_finite = axes_[k].count > 0;
    if (cells[k] == kInactive) {
      if (is_finite) u[k] = CellOf(parameter, IndexAt(parameter, u[k]));
    } else if (is_finite) {
      u[k] = CellOf(parameter, cells[k]);
    } else {
      const Parameter& definition = space_.parameters()[k];
      u[k] = ToUnit(definition, ReadCell(definition, cells[k]));
    }
  }
  return u;
}

}  // namespace vernier::gp
