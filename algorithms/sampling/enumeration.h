#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "vernier/core/space.h"

namespace vernier::sampling {

// The values that one parameter takes in an enumeration: 0 … count - 1, all different. Without any, the parameter must
// never be active.
struct Axis {
  std::int64_t count = 0;
  std::function<ParameterValue(std::int64_t)> value_at;
  std::function<std::optional<std::int64_t>(const ParameterValue&)> find;  // Inverse of value_at.
};

// Every value of a parameter; none if they are infinitely many (ValueCount).
Axis AllValues(const Parameter& parameter);
// The listed values, in their order.
Axis ListedValues(std::vector<ParameterValue> values);

// All points that a space has when each parameter is restricted to finitely many values, numbered 0, 1, 2 … and computed
// from their number, never stored.
//
// Order: that of an odometer whose first wheel turns slowest. The wheels stand in the order of the space's parameters,
// but the parameters that depend on one follow it directly. Inactive parameters take no part, so that no point occurs
// twice. Constraints are not looked at. Immutable and thread-safe; cheap to copy.
class Enumeration {
 public:
  static constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;

  // Nothing if a parameter that may become active has an empty axis, or if the conditions are so entangled that to number
  // the points would take too long.
  // REQUIRES: one axis for each parameter, in the order of space.parameters().
  static std::optional<Enumeration> Create(const Space& space, std::vector<Axis> axes);
  // Every value of every parameter: nothing if an active one may have infinitely many.
  static std::optional<Enumeration> OfAllValues(const Space& space);

  // The number of points, or kMaxCount if there are at least as many.
  std::int64_t count() const;
  // REQUIRES: 0 <= index < count().
  Point At(std::int64_t index) const;

 private:
  struct Diagram;
  class Builder;
  explicit Enumeration(std::shared_ptr<const Diagram> diagram);
  std::shared_ptr<const Diagram> diagram_;  // Shared by copies; never changes.
};

}  // namespace vernier::sampling
