#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "vernier/core/space.h"

namespace vernier::sampling {

// The values of one parameter in an enumeration, all different, by index 0 … count - 1. With count 0, the parameter
// must never be active.
struct Axis {
  std::int64_t count = 0;
  std::function<ParameterValue(std::int64_t)> value_at;
  std::function<std::optional<std::int64_t>(const ParameterValue&)> find;  // Inverse of value_at.
};

// All values of a parameter; an empty axis if ValueCount is nullopt.
Axis AllValues(const Parameter& parameter);
// The listed values, in their order.
Axis ListedValues(std::vector<ParameterValue> values);

// All points of a space whose parameters are restricted to finitely many values, numbered 0, 1, 2 …. Points are
// computed from their number, not stored.
//
// Order: that of an odometer whose first wheel turns slowest. The wheels are the parameters in the order of the space,
// except that parameters that depend on one follow it directly. Inactive parameters have no wheel, so that no point
// occurs twice. Constraints are not considered. Immutable; thread-safe; cheap to copy.
class Enumeration {
 public:
  static constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;

  // nullopt: a parameter that may become active has an empty axis, or the conditions are too complex to number the
  // points.
  // REQUIRES: one axis for each parameter, in the order of space.parameters().
  static std::optional<Enumeration> Create(const Space& space, std::vector<Axis> axes);
  // All values of all parameters. nullopt: as Create; a parameter that may become active has infinitely many values.
  static std::optional<Enumeration> OfAllValues(const Space& space);

  // Returns the number of points; kMaxCount if there are more.
  std::int64_t count() const;
  // Returns a point. Takes time proportional to the number of parameters.  REQUIRES: 0 <= index < count().
  Point At(std::int64_t index) const;

 private:
  struct Diagram;
  class Builder;
  explicit Enumeration(std::shared_ptr<const Diagram> diagram);
  std::shared_ptr<const Diagram> diagram_;  // Shared by copies; never changes.
};

}  // namespace vernier::sampling
