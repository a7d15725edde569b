#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/plot/palette.h"

namespace vernier::plot {

// A grid of characters to draw on. Fine dots are shown as braille (2 x 4 a character), or in ASCII as one character
// each. Glyphs cover dots; backdrops lie under them.
class Canvas {
 public:
  Canvas(int columns, int lines, bool unicode);

  int columns() const { return columns_; }
  int lines() const { return lines_; }
  bool unicode() const { return unicode_; }

  // Positions are shares of the width from the left and of the height from below. Outside of [0, 1] nothing is drawn.
  void Dot(double x, double y, const Paint& paint);
  // A straight line, clipped to the canvas.
  void Segment(double x0, double y0, double x1, double y1, const Paint& paint);
  void Glyph(double x, double y, std::string_view glyph, const Paint& paint);
  // By column and line from the upper left; outside of the canvas nothing is drawn.
  void GlyphAt(int column, int line, std::string_view glyph, const Paint& paint);
  void BackdropAt(int column, int line, std::string_view glyph, const Paint& paint);
  // Writes text, one character a column; nothing if it does not fit.
  void Text(int column, int line, std::string_view text, const Paint& paint);

  // The cell at a share.
  int ColumnOf(double x) const;
  int LineOf(double y) const;

  // A line as text, with colours if wanted, without trailing blanks.
  std::string Line(int line, bool color) const;

 private:
  struct Cell {
    std::string glyph;     // Covers the dots; mostly empty.
    std::string backdrop;  // Shown if there are no dots.
    unsigned dots = 0;     // Bits in the order of Unicode's braille.
    char ascii = ' ';      // Shows the dots without Unicode.
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

// The text in the nearest colour of a terminal; the terminal's own text colour needs no sequence.
std::string Colored(std::string_view text, const Paint& paint);

}  // namespace vernier::plot
