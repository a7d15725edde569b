#pragma once

#include <string>
#include <string_view>

namespace vernier {

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD. Programs print what they like; JSON and
// protobuf hold UTF-8 only.
std::string ToValidUtf8(std::string_view text);
// Whether it is valid UTF-8 without ASCII control characters.
bool IsPrintableUtf8(std::string_view text);

}  // namespace vernier
