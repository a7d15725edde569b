#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "vernier/core/space.h"

namespace vernier::sampling {

// The values that one parameter takes in an enumeration: 0 … count - 1, all different.
struct Axis {
  std::int64_t count = 1;
  std::function<ParameterValue(std::int64_t)> value_at;
  std::function<std::optional<std::int64_t>(const ParameterValue&)> find;  // Inverse of value_at.
};

// Every value of a parameter.  REQUIRES: its domain is finite (ValueCount).
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

  // REQUIRES: one axis for each parameter, in the order of space.parameters().
  Enumeration(const Space& space, std::vector<Axis> axes);
  // Every value of every parameter.  REQUIRES: all domains are finite.
  static Enumeration OfAllValues(const Space& space);

  // The number of points, or kMaxCount if there are at least as many.
  std::int64_t count() const;
  // REQUIRES: 0 <= index < count().
  Point At(std::int64_t index) const;

 private:
  struct Diagram;
  std::shared_ptr<const Diagram> diagram_;  // Shared by copies; never changes.
};

}  // namespace vernier::sampling
