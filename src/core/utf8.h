#pragma once

#include <string>
#include <string_view>

namespace vernier {

// Replaces every byte that is not part of valid UTF-8 by U+FFFD. For output of programs, which may be any bytes: JSON
// and protobuf require UTF-8.
std::string ToValidUtf8(std::string_view text);
// Whether the text is valid UTF-8 without ASCII control characters.
bool IsPrintableUtf8(std::string_view text);

}  // namespace vernier
