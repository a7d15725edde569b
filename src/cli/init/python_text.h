#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Python source as text: literals and calls. Nothing is computed, and nothing must be sound.
namespace vernier::cli {

// The end of the text literal that begins at `at`: after its closing quotes, or the end of the source.
std::size_t EndOfLiteral(std::string_view source, std::size_t at);

// The arguments of a call, split at its commas; `at` is after the opening bracket. Comments are left out.
std::vector<std::string> ArgumentsAt(std::string_view source, std::size_t at);

// The text of a literal; nothing for any other expression.
std::optional<std::string> LiteralOf(std::string_view expression);

struct Call {
  std::vector<std::string> plain;
  std::map<std::string, std::string> named;
};

// The arguments of the call whose opening bracket precedes `at`.
Call ReadCall(std::string_view source, std::size_t at);

}  // namespace vernier::cli
