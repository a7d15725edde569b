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

// The value of a parameter, in the user's units. Float and discrete parameters hold a double, integer parameters an
// int64, boolean parameters a bool, categorical parameters the type that the user listed (text, int64, double or bool).
using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

// One point of a space: the values of the active parameters, by name. Inactive parameters are absent.
using Point = std::map<std::string, ParameterValue>;

// Formats a value as on a program's command line: the shortest text that reads back as the same number, whole numbers
// without a point, "true" and "false", text unchanged.
std::string FormatValue(const ParameterValue& value);
// Formats a point as "lr=0.001 optimizer=sgd width=64", in the order of the map.
std::string FormatPoint(const Point& point);

// How a range is stretched: evenly, with more resolution near its lower end, or with more near its upper end.
// Logarithmic scales need a lower bound above 0.
enum class Scale { kLinear, kLog, kReverseLog };

// The range [lower, upper], both included. With a step: lower, lower + step, … up to upper. `points`: number of values
// that a grid search takes, spread evenly on the scale; not together with a step.
struct FloatDomain {
  double lower = 0;
  double upper = 1;
  Scale scale = Scale::kLinear;
  std::optional<double> step;
  std::optional<std::int64_t> points;
  friend bool operator==(const FloatDomain&, const FloatDomain&) = default;
};
// As FloatDomain, for whole numbers. The default step is 1.
struct IntDomain {
  std::int64_t lower = 0;
  std::int64_t upper = 1;
  Scale scale = Scale::kLinear;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> points;
  friend bool operator==(const IntDomain&, const IntDomain&) = default;
};
// A list of ascending numbers. Algorithms treat them as evenly spaced.
struct DiscreteDomain {
  std::vector<double> values;
  friend bool operator==(const DiscreteDomain&, const DiscreteDomain&) = default;
};
// A list of unordered choices, all different.
struct CategoricalDomain {
  std::vector<ParameterValue> values;
  friend bool operator==(const CategoricalDomain&, const CategoricalDomain&) = default;
};
// False or true.
struct BoolDomain {
  friend bool operator==(const BoolDomain&, const BoolDomain&) = default;
};
using Domain = std::variant<FloatDomain, IntDomain, DiscreteDomain, CategoricalDomain, BoolDomain>;

// Makes a parameter conditional: it is active only if `parent` is active and has one of these values.
struct Condition {
  std::string parent;
  std::vector<ParameterValue> values;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// One dimension of a space.
struct Parameter {
  std::string name;  // 1 to 128 bytes of UTF-8 without control characters.
  Domain domain;
  std::vector<Condition> when;  // All must hold. Empty: always active.
  std::optional<ParameterValue> default_value;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// A validated search space: parameters, conditions to any depth, and constraints between parameters.
//
//   const absl::StatusOr<Space> space = Space::Create(
//       {{.name = "lr", .domain = FloatDomain{1e-5, 0.1, Scale::kLog}},
//        {.name = "layers", .domain = IntDomain{1, 8}}},
//       {"lr * layers <= 0.5"});
//   if (!space.ok()) return space.status();
//
// Immutable; copies share the data and are cheap. Thread-safe.
class Space {
 public:
  // A space without parameters. It has one point, the empty one.
  Space();

  // Checks the definition and makes a space of it. Whole numbers in conditions and defaults are converted to the type
  // of their parameter.
  //
  // InvalidArgument: a FieldError that names the parameter and the violated bound. Paths are those of the study file
  // ("parameters.lr.float[1]", "parameters.momentum.when", "constraints[0]"). Checked are names, bounds, scales, steps,
  // values, conditions (known parents, legal values, no cycle) and defaults. A constraint must parse, refer to numeric
  // or boolean parameters (or compare a categorical one with a quoted value), and together with the others be satisfied
  // by a point that a bounded search finds.
  static absl::StatusOr<Space> Create(std::vector<Parameter> parameters,
                                      std::vector<std::string> constraints = {});

  // The parameters, in the order given to Create. References and spans are valid as long as any copy of the space.
  const std::vector<Parameter>& parameters() const;
  // Indices into parameters(), every parent before its children.
  std::span<const int> parents_first() const;
  // The constraints as given to Create.
  const std::vector<std::string>& constraints() const;
  // Returns the index into parameters(); nullopt if there is no such parameter.
  std::optional<int> Find(std::string_view name) const;

  // OK if the point has a legal value for each active parameter, no other values, and satisfies the constraints.
  // InvalidArgument: a FieldError that names parameter, value and bound.
  absl::Status Check(const Point& point) const;
  // Converts whole numbers to the type of their parameter: 1 for a float becomes 1.0, 16.0 for an integer becomes 16. Moves
  // a float onto the grid of its step if it misses it by a rounding error: 0.30000000000000004 becomes 0.3. Other values,
  // also illegal ones and those of unknown parameters, stay as they are; Check refuses them.
  Point InKind(const Point& point) const;
  // Whether the constraints hold at a point with legal values. A constraint over an inactive parameter holds.
  bool Satisfies(const Point& point) const;
  // Whether parameter `index` is active, given the values of its ancestors in `point`.
  bool IsActive(int index, const Point& point) const;

  // Returns the number of points without regard to constraints, an upper bound. nullopt: infinite (a float without a
  // step), more than 2^62, or too expensive to count because of complex conditions.
  std::optional<std::int64_t> Cardinality() const;
  // Returns a text that is equal for equal points and different for different ones. Stable across versions.
  std::string Key(const Point& point) const;

  // Returns the point of the parameters' defaults; nullopt if an active parameter has none or a constraint is violated.
  std::optional<Point> DefaultPoint() const;

  friend bool operator==(const Space& a, const Space& b);

 private:
  struct Rep;
  explicit Space(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;  // Shared by copies of the space; never changes.
};

}  // namespace vernier
