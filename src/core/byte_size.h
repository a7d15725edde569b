#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

// Parses "4GiB", "1.5GiB" or "512 MB"; rounds down to whole bytes. nullopt: another text, 2^63 bytes or more, or a size
// above 0 and below one byte.
std::optional<std::int64_t> ParseByteSize(std::string_view text);

// As ParseByteSize, but also accepts a whole number of bytes without a unit.
std::optional<std::int64_t> ParseByteCount(std::string_view text);

// Describes a valid text, for the error about an invalid one: "a size such as 2GiB" for "2G" or "2gib", "a size of at
// most 8388607TiB" for one that is too large, "a size such as 4GiB" for others.
std::string ExpectedByteSize(std::string_view text);

// Why a user's number without a unit is no amount of memory or disk: "4 counts bytes; write a size such as 4GiB" for one
// below a MiB. Empty: it is one.
std::string ProblemOfBareAmount(std::int64_t bytes);

// As ProblemOfBareAmount, of a user's text: also "must be a size such as 4GiB, got '4G'". Empty: ParseByteCount reads an
// amount above 0.
std::string ProblemOfAmount(std::string_view text);

// Formats a size in the largest unit that divides it: "4GiB"; without a unit, "4097", if none does. ParseByteCount
// reads it back.
std::string FormatByteSize(std::int64_t bytes);

}  // namespace vernier
