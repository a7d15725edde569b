#include "src/core/point_check.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/domain.h"
#include "src/core/nearest.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

std::string PointPath(std::string_view name) { return fmt::format("point.{}", name); }

std::string WhyInactive(const Parameter& parameter) {
  std::string needs;
  for (const Condition& when : parameter.when) {
    std::vector<std::string> values;
    for (const ParameterValue& value : when.values) values.push_back(FormatValue(value));
    needs += fmt::format(
        "{}{} = {}", needs.empty() ? "" : " and ", when.parent, fmt::join(values, " or "));
  }
  return fmt::format("is active only with {}", needs);
}

const Parameter& ParameterAt(const Space& space, int index) {
  return space.parameters()[static_cast<std::size_t>(index)];
}

// Whether the parameter is active for some choice of the missing values of its parents.
bool MayBeActive(const Space& space, int index, const Point& point) {
  const std::vector<Condition>& when = ParameterAt(space, index).when;
  return std::all_of(when.begin(), when.end(), [&](const Condition& condition) {
    const auto parent = point.find(condition.parent);
    // Ends at a parameter without conditions, since conditions form no circle.
    if (parent == point.end()) return MayBeActive(space, *space.Find(condition.parent), point);
    return std::ranges::find(condition.values, parent->second) != condition.values.end();
  });
}

absl::Status CheckNames(const Space& space, const Point& point) {
  for (const auto& [name, value] : point) {
    if (space.Find(name).has_value()) continue;
    std::vector<std::string> names;
    for (const Parameter& parameter : space.parameters()) names.push_back(parameter.name);
    return FieldError(PointPath(name), "no such parameter" + NearestHint(name, names));
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const Parameter& parameter, const ParameterValue& value, bool is_active) {
  if (!is_active) return FieldError(PointPath(parameter.name), WhyInactive(parameter));
  const std::string why = WhyIllegal(parameter.domain, value);
  return why.empty() ? absl::OkStatus() : FieldError(PointPath(parameter.name), why);
}

}  // namespace

bool IsWhole(const Space& space, const Point& point) {
  return std::ranges::all_of(space.parents_first(), [&](int index) {
    return point.contains(ParameterAt(space, index).name) || !space.IsActive(index, point);
  });
}

absl::Status CheckGiven(const Space& space, const Point& point) {
  VERNIER_RETURN_IF_ERROR(CheckNames(space, point));
  for (const int index : space.parents_first()) {
    const Parameter& parameter = ParameterAt(space, index);
    const auto found = point.find(parameter.name);
    if (found == point.end()) continue;
    VERNIER_RETURN_IF_ERROR(CheckValue(parameter, found->second, MayBeActive(space, index, point)));
  }
  if (space.Satisfies(point)) return absl::OkStatus();
  return FieldError("constraints", fmt::format("one does not hold at {}", FormatPoint(point)));
}

absl::Status CheckValues(const Space& space, const Point& point) {
  // Unknown names first: a misspelt parameter would otherwise be reported as one that lacks its value.
  VERNIER_RETURN_IF_ERROR(CheckNames(space, point));
  // Parents first: the wrong value of a parent is reported, and not what follows from it for its children.
  for (const int index : space.parents_first()) {
    const Parameter& parameter = ParameterAt(space, index);
    const auto found = point.find(parameter.name);
    const bool is_active = space.IsActive(index, point);
    if (found != point.end()) {
      VERNIER_RETURN_IF_ERROR(CheckValue(parameter, found->second, is_active));
    } else if (is_active) {
      return FieldError(PointPath(parameter.name), "must have a value");
    }
  }
  return absl::OkStatus();
}

}  // namespace vernier
