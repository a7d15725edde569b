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

// Names that a hint lists at most: of the user's own things, and of the keys of a file, which are all wanted.
inline constexpr std::size_t kListedNames = 12;
inline constexpr std::size_t kListedKeys = 40;

// "; did you mean 'parallel'?" if one of `known` is near enough to `given`, else "; known: a, b, c" (at most `most`).
std::string NearestHint(std::string_view given,
                        std::span<const std::string> known,
                        std::size_t most = kListedNames);

}  // namespace vernier
