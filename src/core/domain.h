#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vernier/core/space.h"

// The legal values of one domain. Domains must be valid (CheckDomain) unless a comment says otherwise.
namespace vernier {

// The evenly spaced values of an integer domain or a float domain with a step: lower + i * step for i = 0 … last.
struct Grid {
  double lower = 0;
  double step = 1;
  Scale scale = Scale::kLinear;
  std::uint64_t last = 0;  // Up to 2^64 - 1.
};
// Returns the grid of an integer, of a float with a step, or of a float with a single value; nullopt for other domains.
std::optional<Grid> GridOf(const Domain& domain);
// Whether the domain is a float without a grid.
bool IsContinuous(const Domain& domain);

// Returns the number of values of a discrete, categorical or boolean domain; nullopt for other domains.
std::optional<std::int64_t> ListSize(const Domain& domain);

// Checks any domain. `path` is the path of its parameter: "parameters.lr".  InvalidArgument: a FieldError.
absl::Status CheckDomain(std::string_view path, const Domain& domain);

// Returns why `value` is illegal, "must be at most 0.1, got 0.5"; empty if it is legal. Does not convert types: an
// integer is no legal value of a float domain.
std::string WhyIllegal(const Domain& domain, const ParameterValue& value);

// Returns the type of the value and the value: "text (sgd)".
std::string KindName(const ParameterValue& value);

// Converts a whole number to the type of the domain: 1 for a float becomes 1.0, 16.0 for an integer becomes 16, "3"
// stays text. A float with a step that misses the grid by a rounding error becomes the grid's value: 0.30000000000000004
// of [0, 1] with step 0.1 becomes 0.3. Returns other values unchanged.
ParameterValue InKindOf(const Domain& domain, const ParameterValue& value);
// Converts between integer and double: 1 to 1.0, 16.0 to 16. nullopt for other values, and for numbers of 2^53 and
// more, which a double may not represent exactly.
std::optional<ParameterValue> InOtherKind(const ParameterValue& value);

// Returns the i-th value of a float's grid. If bounds and step are short decimals, the value is the double nearest to
// the decimal result: 0.3, not 0.30000000000000004.
double GridFloat(const FloatDomain& domain, std::int64_t i);

// Returns the index of a value of a finite domain; nullopt if it is illegal.
std::optional<std::int64_t> FindIndex(const Domain& domain, const ParameterValue& value);

}  // namespace vernier
