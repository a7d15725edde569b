#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Python source as text: literals and calls. Nothing is computed, and nothing must be sound.
namespace vernier::cli {

// Where the text literal that begins at `at` ends: behind its closing quotes,
// or at the end of the source.
std::size_t EndOfLiteral(std::string_view source, std::size_t at);

// The arguments of a call, cut at its commas; `at` is behind its opening
// bracket. Comments are left out.
std::vector<std::string> ArgumentsAt(std::string_view source, std::size_t at);

// The text of a literal; nothing if it is something else.
std::optional<std::string> LiteralOf(std::string_view expression);

struct Call {
  std::vector<std::string> plain;
  std::map<std::string, std::string> named;
};

// The arguments of the call whose opening bracket is before `at`.
Call ReadCall(std::string_view source, std::size_t at);

}  // namespace vernier::cli
