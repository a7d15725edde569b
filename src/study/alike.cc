#include "src/study/alike.h"

#include <cstddef>

namespace vernier::study {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsDigitAt(std::string_view text, std::size_t i) { return i < text.size() && IsDigit(text[i]); }

// Where the number ends that begins at `i`: "12", "0.5", "1e-05".
std::size_t EndOfNumber(std::string_view text, std::size_t i) {
  while (IsDigitAt(text, i) || (i < text.size() && text[i] == '.' && IsDigitAt(text, i + 1))) ++i;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign =
        i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+') ? 1 : 0;
    if (IsDigitAt(text, i + 1 + sign)) return EndOfNumber(text, i + 1 + sign);
  }
  return i;
}

}  // namespace

std::string WithoutNumbers(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size();) {
    // A minus behind a word is a hyphen.
    const bool is_hyphen = !rest.empty() && (IsLetter(rest.back()) || rest.back() == '#');
    const bool is_negative = text[i] == '-' && !is_hyphen && IsDigitAt(text, i + 1);
    if (IsDigit(text[i]) || is_negative) {
      i = EndOfNumber(text, is_negative ? i + 1 : i);
      rest += '#';
    } else {
      rest += text[i++];
    }
  }
  return rest;
}

}  // namespace vernier::study
