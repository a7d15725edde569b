#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vernier {

// Returns the number of typing errors between `given` and `name`: insertions, deletions, replacements and swaps of
// neighbours; case is ignored. nullopt: errors in more than a third of the letters, or in all of them.
std::optional<std::size_t> SlipsBetween(std::string_view given, std::string_view name);

// Largest number of names in a hint: of the user's own names, and of keys of a file, of which all are useful to see.
inline constexpr std::size_t kListedNames = 12;
inline constexpr std::size_t kListedKeys = 40;

// Returns "; did you mean 'parallel'?" if one of `known` is similar to `given`, otherwise "; known: a, b, c" with at
// most `most` names. Empty if `known` is.
std::string NearestHint(std::string_view given,
                        std::span<const std::string> known,
                        std::size_t most = kListedNames);

}  // namespace vernier
