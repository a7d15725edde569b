#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "vernier/core/space.h"

// Equality of bits, as replay compares. 0.0 differs from -0.0; any NaN equals any other, since a
// log keeps none of the bits of a NaN.
namespace vernier::study {

inline bool SameBits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool SameBits(const ParameterValue& a, const ParameterValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  return x != nullptr && y != nullptr ? SameBits(*x, *y) : a == b;
}

inline bool SameBits(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || SameBits(*a, *b));
}

template <typename Value>
bool SameBits(const std::map<std::string, Value>& a, const std::map<std::string, Value>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && SameBits(x.second, y.second);
         });
}

}  // namespace vernier::study
