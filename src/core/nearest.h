#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vernier {

// "; did you mean 'parallel'?" if one of `known` is near enough to `given`, else "; known: a, b, c" (at most twelve).
std::string NearestHint(std::string_view given, std::span<const std::string> known);

}  // namespace vernier
