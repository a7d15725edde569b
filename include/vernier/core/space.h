#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vernier/core/error.h"

namespace vernier {

// A parameter's value in the user's units. Float and discrete parameters hold a double, integer ones an int64,
// boolean ones a bool, categorical ones what the user listed (text, int64, double or bool).
using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

// One point of a space: the values of the active parameters, by name. Inactive parameters are absent.
using Point = std::map<std::string, ParameterValue>;

// The value as a program sees it on its command line: the shortest text that reads back to the same number, whole
// discrete values and integers without a point, "true" and "false", text as it is.
std::string FormatValue(const ParameterValue& value);
// "lr=0.001 width=64 optimizer=sgd", in the order of the map.
std::string FormatPoint(const Point& point);

enum class Scale { kLinear, kLog, kReverseLog };

// [lower, upper], both included. With a step: lower, lower + step, … up to upper. `points` is the number of
// values that a grid takes of it, spread evenly on the scale.
struct FloatDomain {
  double lower = 0;
  double upper = 1;
  Scale scale = Scale::kLinear;
  std::optional<double> step;
  std::optional<std::int64_t> points;
  friend bool operator==(const FloatDomain&, const FloatDomain&) = default;
};
struct IntDomain {
  std::int64_t lower = 0;
  std::int64_t upper = 1;
  Scale scale = Scale::kLinear;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> points;
  friend bool operator==(const IntDomain&, const IntDomain&) = default;
};
// Ordered numbers, ascending. Algorithms take them for evenly spaced.
struct DiscreteDomain {
  std::vector<double> values;
  friend bool operator==(const DiscreteDomain&, const DiscreteDomain&) = default;
};
// Unordered choices.
struct CategoricalDomain {
  std::vector<ParameterValue> values;
  friend bool operator==(const CategoricalDomain&, const CategoricalDomain&) = default;
};
struct BoolDomain {
  friend bool operator==(const BoolDomain&, const BoolDomain&) = default;
};
using Domain = std::variant<FloatDomain, IntDomain, DiscreteDomain, CategoricalDomain, BoolDomain>;

// The parameter is active only where `parent` is active and has one of these values.
struct Condition {
  std::string parent;
  std::vector<ParameterValue> values;
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct Parameter {
  std::string name;  // 1 to 128 bytes of UTF-8 without control characters.
  Domain domain;
  std::vector<Condition> when;  // All must hold; empty: always active.
  std::optional<ParameterValue> default_value;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// A validated search space: parameters, their conditions to any depth, and constraints between them.
//
// Immutable and cheap to copy (copies share). Thread-safe.
class Space {
 public:
  // An empty space: no parameters, one point.
  Space();

  // InvalidArgument: a FieldError that names the parameter and the bound it breaks, paths as in the study file
  // ("parameters.lr.float[1]", "parameters.momentum.when", "constraints[0]"). Checked: names, bounds, scales, steps,
  // values, conditions (known parents, legal values, no cycle), defaults inside their domain, constraints that parse,
  // name numeric or boolean parameters (categorical ones beside a quoted value), and admit at least one point (found by a
  // bounded search). Numbers of conditions and defaults are given the kind that their parameter holds.
  static absl::StatusOr<Space> Create(std::vector<Parameter> parameters,
                                      std::vector<std::string> constraints = {});

  // In the user's order.
  const std::vector<Parameter>& parameters() const;
  // Indices into parameters(), every parent before its children.
  std::span<const int> parents_first() const;
  // The texts given to Create.
  const std::vector<std::string>& constraints() const;
  // Index into parameters().
  std::optional<int> Find(std::string_view name) const;

  // OK if the point holds a legal value for each active parameter, nothing else, and satisfies the constraints.
  // InvalidArgument: a FieldError naming parameter, value and bound.
  absl::Status Check(const Point& point) const;
  // The point with each number in the kind that its parameter holds, where that is the same number: 1 for a float becomes
  // 1.0, 16.0 for an integer becomes 16. What does not fit, and unknown names, stay as they are for Check to refuse.
  Point InKind(const Point& point) const;
  // Whether the constraints hold. A constraint over an inactive parameter holds.
  bool Satisfies(const Point& point) const;
  // Whether parameter `index` is active, given the values of its ancestors in `point`.
  bool IsActive(int index, const Point& point) const;

  // The number of points: nullopt if infinite (a float without a step), beyond 2^62, or hidden behind conditions too
  // entangled to count. Conditions are taken into account, constraints are not, so that this is an upper bound.
  std::optional<std::int64_t> Cardinality() const;
  // Equal for equal points, different for different ones. Short text, stable over versions.
  std::string Key(const Point& point) const;

  // The point made of the parameters' defaults, if every active parameter has one and the constraints hold.
  std::optional<Point> DefaultPoint() const;

  friend bool operator==(const Space& a, const Space& b);

 private:
  struct Rep;
  explicit Space(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;  // Shared by copies of the space; never changes.
};

}  // namespace vernier
