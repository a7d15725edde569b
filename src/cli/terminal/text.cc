// Widths of characters are in tables of this file and not from wcwidth(3), whose answer depends on the locale: output
// must be the same in LANG=C, in tests and in containers without locales. The tables list the ranges of Unicode that
// occur in practice, as whole blocks.

#include "src/cli/terminal/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmt/format.h"

namespace vernier::cli {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

// Length of the UTF-8 sequence that begins with this byte; 0 if none does. 0xC0 and 0xC1 could only begin overlong
// forms, and bytes from 0xF5 on would lie beyond the last code point.
std::size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// The first character of a non-empty text; an invalid sequence counts as a single byte.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = SequenceLength(lead);
  if (length == 1) return {lead, 1};
  if (length == 0 || length > text.size()) return {U'\uFFFD', 1};
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {U'\uFFFD', 1};
    code = (code << 6U) | (next & 0x3FU);
  }
  return {code, length};
}

using Range = std::pair<char32_t, char32_t>;

// Control characters, also those that terminals take for the start of an escape sequence in UTF-8 (U+009B), and what changes
// the direction of the text behind it, so that it reads otherwise than it is written.
constexpr std::array<Range, 4> kControls = {
    {{0x00, 0x1F}, {0x7F, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}}};
// Combining marks, zero-width spaces and joiners, marks for symbols, variation selectors, byte order mark.
constexpr std::array<Range, 5> kZeroWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}}};
// East Asian Wide and Fullwidth (UAX #11), rounded to blocks, and emoji.
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE4F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool IsIn(const std::array<Range, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return code >= range.first && code <= range.second;
  });
}

int Columns(char32_t code) {
  if (IsIn(kZeroWidth, code)) return 0;
  return IsIn(kWide, code) ? 2 : 1;
}

// Number of bytes that fit into `width` columns.
std::size_t BytesWithin(std::string_view text, int width) {
  std::size_t bytes = 0;
  int used = 0;
  while (bytes < text.size()) {
    const Character next = FirstCharacter(text.substr(bytes));
    used += Columns(next.code);
    if (used > width) break;
    bytes += next.bytes;
  }
  return bytes;
}

std::string_view StyleCode(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "1";
    case Style::kDim:
      return "2";
    case Style::kGreen:
      return "32";
    case Style::kRed:
      return "31";
    case Style::kYellow:
      return "33";
    case Style::kCyan:
      return "36";
  }
  return "";
}

}  // namespace

std::string Paint(std::string_view text, Style style, bool color) {
  if (!color || style == Style::kPlain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", StyleCode(style), text);
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character next = FirstCharacter(text);
    width += Columns(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string Truncate(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  // One column is left for the ellipsis.
  return std::string(text.substr(0, BytesWithin(text, width - 1))) + "…";
}

std::vector<std::string> Wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (DisplayWidth(text) > width) {
    const std::size_t fits = BytesWithin(text, width);
    // The blank where a line is broken may be the first character that does not fit; it belongs to neither line.
    const std::size_t blank = text.substr(0, fits + 1).rfind(' ');
    // A break at a blank in front would make an empty line.
    const bool breaks_word = blank == std::string_view::npos || blank == 0;
    lines.emplace_back(text.substr(0, breaks_word ? fits : blank));
    text.remove_prefix(breaks_word ? fits : blank + 1);
  }
  lines.emplace_back(text);
  return lines;
}

std::string PadRight(std::string_view text, int width) {
  const int missing = std::max(0, width - DisplayWidth(text));
  return fmt::format("{}{:{}}", text, "", missing);
}

std::string PadLeft(std::string_view text, int width) {
  const int missing = std::max(0, width - DisplayWidth(text));
  return fmt::format("{:{}}{}", "", missing, text);
}

std::string FirstLine(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text = text.substr(0, text.find_first_of("\r\n"));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));
  return std::string(text);
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const Character next = FirstCharacter(text);
    if (next.code == U'\t') {
      printable += ' ';
    } else if (IsIn(kControls, next.code)) {
      printable += "·";
    } else {
      printable += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return printable;
}

std::vector<std::string> PrintableLines(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.push_back(Printable(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line));
  }
  return lines;
}

}  // namespace vernier::cli
