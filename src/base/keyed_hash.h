#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Codes that only who has a secret can make.
namespace vernier::base {

// HMAC-SHA-256 of `text`, as 64 hexadecimal digits.
std::string KeyedHash(std::string_view secret, std::string_view text);

// Whether both are equal; takes the same time wherever they differ.
bool IsSameSecret(std::string_view a, std::string_view b);

// Random bytes from the system, as hexadecimal digits: two for each.
std::string RandomHex(std::size_t bytes);

}  // namespace vernier::base
