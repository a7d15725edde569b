#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

// "4GiB", "1.5GiB" or "512 MB"; parts of a byte are cut off. Nothing: no such text, more than
// 64 bits hold, or less than a byte that is not 0.
std::optional<std::int64_t> ParseByteSize(std::string_view text);

// The same, or a whole number of bytes without a unit.
std::optional<std::int64_t> ParseByteCount(std::string_view text);

// What such a text should be, for errors: "a size such as 2GiB" for "2G" or "2gib", "a size of at most 8388607TiB" for one
// that is too large, "a size such as 4GiB" for others.
std::string ExpectedByteSize(std::string_view text);

// In the largest unit that divides it: "4GiB"; without a unit, "4097", where none does.
std::string FormatByteSize(std::int64_t bytes);

}  // namespace vernier
