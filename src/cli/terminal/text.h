#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text as a terminal shows it: UTF-8, measured in columns.
namespace vernier::cli {

enum class Style { kPlain, kBold, kDim, kGreen, kRed, kYellow, kCyan };

// The text between the escape sequences of `style`; the text itself if `color` is false or the style plain.
std::string Paint(std::string_view text, Style style, bool color);

// Columns that the text takes: two for East Asian wide characters and emoji, none for combining marks. A byte that is no
// UTF-8 counts as one.  REQUIRES: no escape sequences.
int DisplayWidth(std::string_view text);

// The text cut to at most `width` columns; what was cut is shown by a final "…".  REQUIRES: width >= 1.
std::string Truncate(std::string_view text, int width);

// The text in lines of at most `width` columns, broken at blanks where there are some, else where the width ends. At least
// one line, which is empty for an empty text.  REQUIRES: width >= 2.
std::vector<std::string> Wrap(std::string_view text, int width);

// The text with blanks after (before) it, so that it takes at least `width` columns.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

// The text up to its first line's end, without blanks around it.
std::string FirstLine(std::string_view text);

// Control characters replaced by "·", so that what a program printed cannot drive the terminal. Tabs become a blank.
std::string Printable(std::string_view text);

// The lines of a text, printable, without blank ones at its end. None for an empty text.
std::vector<std::string> PrintableLines(std::string_view text);

}  // namespace vernier::cli
