#pragma once

#include <string>
#include <string_view>

// Message authentication codes.
namespace vernier::base {

// HMAC-SHA-256 of `text`, as 64 hexadecimal digits.
std::string KeyedHash(std::string_view secret, std::string_view text);

// Whether both are equal, in time that does not depend on where they differ (only on their sizes).
bool IsSameSecret(std::string_view a, std::string_view b);

}  // namespace vernier::base
