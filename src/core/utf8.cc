#include "src/core/utf8.h"

#include <algorithm>
#include <cstddef>

namespace vernier {
namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Returns the length of the well-formed byte sequence at the start of `text`; 0 if there is none (Unicode 15, table
// 3-7).
std::size_t SequenceLength(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return IsContinuation(at(1)) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && at(1) < 0xA0;
    const bool surrogate = lead == 0xED && at(1) > 0x9F;
    return IsContinuation(at(1)) && IsContinuation(at(2)) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && at(1) < 0x90;
    const bool beyond = lead == 0xF4 && at(1) > 0x8F;
    const bool continued = IsContinuation(at(1)) && IsContinuation(at(2)) && IsContinuation(at(3));
    return continued && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string ToValidUtf8(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    // A byte that begins no character becomes U+FFFD, and the search goes on behind it.
    const std::size_t length = SequenceLength(text);
    valid += length > 0 ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

bool IsPrintableUtf8(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return std::none_of(text.begin(), text.end(), is_control) && ToValidUtf8(text) == text;
}

}  // namespace vernier
