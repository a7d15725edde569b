#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vernier {

// How many slips of the typist make `name` of `given` (insertions, deletions, replacements, swaps of neighbours; case is
// free). Nothing: more than a third of the letters, or every letter.
std::optional<std::size_t> SlipsBetween(std::string_view given, std::string_view name);

// "; did you mean 'parallel'?" if one of `known` is near enough to `given`, else "; known: a, b, c" (at most twelve).
std::string NearestHint(std::string_view given, std::span<const std::string> known);

}  // namespace vernier
