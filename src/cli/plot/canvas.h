#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/plot/palette.h"

namespace vernier::plot {

// A grid of characters to draw on. Fine dots show as braille (2 x 4 a character), or as one ASCII character each; glyphs lie
// over the dots, backdrops under them.
class Canvas {
 public:
  Canvas(int columns, int lines, bool unicode);

  int columns() const { return columns_; }
  int lines() const { return lines_; }
  bool unicode() const { return unicode_; }

  // Places by shares of the width, from the left, and of the height, from below. What lies outside [0, 1] is not drawn.
  void Dot(double x, double y, const Paint& paint);
  // A straight line; what lies outside is cut off.
  void Segment(double x0, double y0, double x1, double y1, const Paint& paint);
  void Glyph(double x, double y, std::string_view glyph, const Paint& paint);
  // By column and line, from the upper left; nothing where that is outside.
  void GlyphAt(int column, int line, std::string_view glyph, const Paint& paint);
  void BackdropAt(int column, int line, std::string_view glyph, const Paint& paint);
  // One character for each column of the text; nothing if it does not fit.
  void Text(int column, int line, std::string_view text, const Paint& paint);

  // The cell that holds a share.
  int ColumnOf(double x) const;
  int LineOf(double y) const;

  // A line as text, with colours if asked for. No blanks at its end.
  std::string Line(int line, bool color) const;

 private:
  struct Cell {
    std::string glyph;     // Over the dots; mostly empty.
    std::string backdrop;  // Where there are no dots.
    unsigned dots = 0;     // Bits as braille has them.
    char ascii = ' ';      // Of the dots.
    std::optional<Paint> paint;
    std::optional<Paint> backdrop_paint;
  };

  Cell* At(int column, int line);
  const Cell& At(int column, int line) const;
  void SetFine(int x, int y, char ascii, const Paint& paint);
  std::string Shown(const Cell& cell) const;

  bool unicode_;
  int columns_;
  int lines_;
  int across_;  // Fine dots.
  int down_;
  std::vector<Cell> cells_;
};

// The text in a terminal's nearest colour; plain text stays plain.
std::string Colored(std::string_view text, const Paint& paint);

}  // namespace vernier::plot
