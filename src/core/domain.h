#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vernier/core/space.h"

// What one domain admits, on its own. Domains are validated unless a comment says otherwise.
namespace vernier {

// The evenly spaced values of an integer or of a float with a step: 0 … last, in ascending order.
struct Grid {
  double lower = 0;
  double step = 1;
  Scale scale = Scale::kLinear;
  std::uint64_t last = 0;  // May be all of 64 bits.
};
// Nothing for a float without a step that has more than one value, for lists and booleans.
std::optional<Grid> GridOf(const Domain& domain);

// The values of a list: discrete, categorical, boolean. Nothing for the others.
std::optional<std::int64_t> ListSize(const Domain& domain);

// OK for a sound domain, else a FieldError. `path` is the parameter's: "parameters.lr".
absl::Status CheckDomain(std::string_view path, const Domain& domain);

// Empty if `value` is legal, else why not: "must be at most 0.1, got 0.5". Never changes the kind of a value: an integer
// is no legal value of a float.
std::string WhyIllegal(const Domain& domain, const ParameterValue& value);

// The value in the kind that the domain holds, where the number is the same: 1 for a float becomes 1.0, 16.0 for an
// integer becomes 16, "3" stays text. What does not fit is returned as it is.
ParameterValue InKindOf(const Domain& domain, const ParameterValue& value);
// The same number in the other kind: 1 as 1.0, 16.0 as 16. Nothing for other values, and from 2^53 on, where a double and an
// integer are not surely the same number.
std::optional<ParameterValue> InOtherKind(const ParameterValue& value);

// The i-th value of a float's grid. Where bounds and step are short decimals it is the double nearest to the decimal, 0.3
// and not 0.30000000000000004.
double GridFloat(const FloatDomain& domain, std::int64_t i);

// The place of a legal value of a finite domain; nothing if it is not legal.
std::optional<std::int64_t> FindIndex(const Domain& domain, const ParameterValue& value);

}  // namespace vernier
