#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text as a terminal shows it: UTF-8, measured in columns.
namespace vernier::cli {

enum class Style { kPlain, kBold, kDim, kGreen, kRed, kYellow, kCyan };

// The text between the escape sequences of `style`; unchanged if `color` is false or the style is plain.
std::string Paint(std::string_view text, Style style, bool color);

// Width in columns: two for East Asian wide characters and emoji, none for combining marks, one for a byte that is not
// UTF-8.  REQUIRES: no escape sequences.
int DisplayWidth(std::string_view text);

// The text cut to `width` columns, with a final "…" if anything was cut.  REQUIRES: width >= 1.
std::string Truncate(std::string_view text, int width);

// The text in lines of at most `width` columns, broken at blanks if possible, otherwise at the width. At least one
// line, possibly empty.  REQUIRES: width >= 2.
std::vector<std::string> Wrap(std::string_view text, int width);

// The text padded on the right (left) to at least `width` columns.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

// The first line of the text, stripped.
std::string FirstLine(std::string_view text);

// The text with control characters replaced by "·", also those that change the direction of text, so that output of programs
// can neither control the terminal nor read otherwise than it is. Tabs become blanks.
std::string Printable(std::string_view text);

// The lines of a text, printable, without trailing blank lines. None for an empty text.
std::vector<std::string> PrintableLines(std::string_view text);

}  // namespace vernier::cli
