// Braille patterns (U+2800 to U+28FF) have 2 x 4 dots a character, which gives a terminal eight times as many points. A
// cell has one colour, since a terminal has one for each character: the mark drawn last decides.

#include "src/cli/plot/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "fmt/format.h"
#include "src/cli/terminal/text.h"

namespace vernier::plot {
namespace {

constexpr int kBrailleAcross = 2;
constexpr int kBrailleDown = 4;
// Marks a cell that is covered by the second half of a wide character.
constexpr std::string_view kCovered("\0", 1);

bool IsInside(double share) { return share >= -1e-9 && share <= 1 + 1e-9; }

// Clips the segment to the unit square (Liang and Barsky, 1984); false if no part lies inside.
bool CutToSquare(double& x0, double& y0, double& x1, double& y1) {
  // The part of the segment that is inside so far, as shares of its length.
  double enter = 0;
  double leave = 1;
  const double dx = x1 - x0;
  const double dy = y1 - y0;
  const std::array<double, 4> against = {-dx, dx, -dy, dy};
  const std::array<double, 4> room = {x0, 1 - x0, y0, 1 - y0};
  for (std::size_t side = 0; side < against.size(); ++side) {
    // Parallel to this side: inside or outside as a whole.
    if (against[side] == 0) {
      if (room[side] < 0) return false;
      continue;
    }
    const double share = room[side] / against[side];
    if (against[side] < 0) {
      enter = std::max(enter, share);
    } else {
      leave = std::min(leave, share);
    }
  }
  if (enter > leave) return false;
  x1 = x0 + leave * dx;
  y1 = y0 + leave * dy;
  x0 += enter * dx;
  y0 += enter * dy;
  return true;
}

char AsciiOf(int dx, int dy) {
  if (dy == 0) return '-';
  return dx == 0 ? '|' : '.';
}

// Plain text keeps the terminal's own colour, which fits its background.
bool IsColored(const Paint& paint) { return paint.ink != Ink::kText; }

bool IsSame(const std::optional<Paint>& a, const std::optional<Paint>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->ink == b->ink && RampStep(a->level) == RampStep(b->level));
}

}  // namespace

std::string Colored(std::string_view text, const Paint& paint) {
  if (!IsColored(paint) || text.empty()) return std::string(text);
  return fmt::format("\x1b[38;5;{}m{}\x1b[0m", TerminalColor(paint), text);
}

Canvas::Canvas(int columns, int lines, bool unicode)
    : unicode_(unicode),
      columns_(columns),
      lines_(lines),
      across_(unicode ? columns * kBrailleAcross : columns),
      down_(unicode ? lines * kBrailleDown : lines),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(lines)) {}

Canvas::Cell* Canvas::At(int column, int line) {
  if (column < 0 || column >= columns_ || line < 0 || line >= lines_) return nullptr;
  return &cells_[static_cast<std::size_t>(line) * static_cast<std::size_t>(columns_) +
                 static_cast<std::size_t>(column)];
}
const Canvas::Cell& Canvas::At(int column, int line) const {
  return cells_[static_cast<std::size_t>(line) * static_cast<std::size_t>(columns_) +
                static_cast<std::size_t>(column)];
}

int Canvas::ColumnOf(double x) const {
  return std::clamp(static_cast<int>(x * columns_), 0, columns_ - 1);
}
int Canvas::LineOf(double y) const {
  return std::clamp(static_cast<int>((1 - y) * lines_), 0, lines_ - 1);
}

void Canvas::SetFine(int x, int y, char ascii, const Paint& paint) {
  // Unicode's order of the eight dots: down the left side, down the right, then the lowest pair.
  constexpr std::array<std::array<unsigned, kBrailleAcross>, kBrailleDown> kBits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  Cell* cell = unicode_ ? At(x / kBrailleAcross, y / kBrailleDown) : At(x, y);
  if (cell == nullptr) return;
  cell->dots |= unicode_ ? kBits[static_cast<std::size_t>(y % kBrailleDown)]
                                [static_cast<std::size_t>(x % kBrailleAcross)]
                         : 1U;
  cell->ascii = ascii;
  cell->paint = paint;
}

void Canvas::Dot(double x, double y, const Paint& paint) {
  if (!IsInside(x) || !IsInside(y)) return;
  SetFine(static_cast<int>(std::lround(x * (across_ - 1))),
          static_cast<int>(std::lround((1 - y) * (down_ - 1))),
          'o',
          paint);
}

void Canvas::Segment(double x0, double y0, double x1, double y1, const Paint& paint) {
  if (!CutToSquare(x0, y0, x1, y1)) return;
  const auto across = [this](double x) { return static_cast<int>(std::lround(x * (across_ - 1))); };
  const auto down = [this](double y) {
    return static_cast<int>(std::lround((1 - y) * (down_ - 1)));
  };
  const int from_x = across(x0);
  const int from_y = down(y0);
  const int dx = across(x1) - from_x;
  const int dy = down(y1) - from_y;
  // One step at least, so that a segment shorter than a dot is a dot.
  const int steps = std::max({1, std::abs(dx), std::abs(dy)});
  for (int i = 0; i <= steps; ++i) {
    SetFine(from_x + static_cast<int>(std::lround(static_cast<double>(dx) * i / steps)),
            from_y + static_cast<int>(std::lround(static_cast<double>(dy) * i / steps)),
            AsciiOf(dx, dy),
            paint);
  }
}

void Canvas::Glyph(double x, double y, std::string_view glyph, const Paint& paint) {
  if (IsInside(x) && IsInside(y)) GlyphAt(ColumnOf(x), LineOf(y), glyph, paint);
}

void Canvas::GlyphAt(int column, int line, std::string_view glyph, const Paint& paint) {
  // Outside of the canvas, glyphs are left out.
  Cell* cell = At(column, line);
  if (cell == nullptr) return;
  cell->glyph = glyph;
  cell->paint = paint;
}

void Canvas::BackdropAt(int column, int line, std::string_view glyph, const Paint& paint) {
  Cell* cell = At(column, line);
  if (cell == nullptr) return;
  cell->backdrop = glyph;
  cell->backdrop_paint = paint;
}

void Canvas::Text(int column, int line, std::string_view text, const Paint& paint) {
  if (column < 0 || column + cli::DisplayWidth(text) > columns_) return;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    const std::string_view glyph = text.substr(i, end - i);
    // A wide character takes two cells: the first holds it, the second is marked as covered. Combining marks join the
    // character before.
    const int width = cli::DisplayWidth(glyph);
    if (width == 0) {
      if (Cell* before = At(column - 1, line); before != nullptr) before->glyph += glyph;
    } else {
      GlyphAt(column, line, glyph, paint);
      for (int more = 1; more < width; ++more) GlyphAt(column + more, line, kCovered, paint);
    }
    column += width;
    i = end;
  }
}

std::string Canvas::Shown(const Cell& cell) const {
  if (cell.glyph == kCovered) return "";
  if (!cell.glyph.empty()) return cell.glyph;
  if (cell.dots == 0) return cell.backdrop.empty() ? " " : cell.backdrop;
  if (!unicode_) return std::string(1, cell.ascii);
  // U+2800 plus the bits, in UTF-8.
  return {static_cast<char>(0xE2),
          static_cast<char>(0xA0 | (cell.dots >> 6U)),
          static_cast<char>(0x80 | (cell.dots & 0x3FU))};
}

std::string Canvas::Line(int line, bool color) const {
  std::string text;
  std::string run;
  std::optional<Paint> paint;
  std::size_t visible = 0;  // Length of `text` up to the last character that shows.
  const auto flush = [&] {
    text += color && paint ? Colored(run, *paint) : run;
    if (run.find_first_not_of(' ') != std::string::npos) visible = text.size();
    run.clear();
  };
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = At(column, line);
    const bool is_drawn = !cell.glyph.empty() || cell.dots != 0;
    const std::optional<Paint>& own = is_drawn ? cell.paint : cell.backdrop_paint;
    if (!IsSame(own, paint)) flush();
    paint = own;
    run += Shown(cell);
  }
  flush();
  text.resize(visible);
  // A run without colour may end with blanks after something that shows.
  if (text.ends_with(' ')) text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace vernier::plot
