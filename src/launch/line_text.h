#pragma once

#include <string_view>

// Simple questions about the text of printed lines.
namespace vernier::launch {

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Not <cctype>, whose answers depend on the locale.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace vernier::launch
