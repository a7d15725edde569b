#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Pictures made of characters.
namespace vernier::cli {

struct PlotSize {
  int width = 80;   // Columns.
  int height = 16;  // Lines of the picture itself.
};

// Two to about `count` round numbers that span [low, high]: multiples of 1, 2 or 5 times a power of ten.
// REQUIRES: low <= high, both finite.
std::vector<double> NiceTicks(double low, double high, int count);
// Of the values, which must be finite and at least one.
std::vector<double> NiceTicks(const std::vector<double>& values, int count);

// Where a value lies between the first tick and the last: 0 to 1.
double ShareOf(double value, const std::vector<double>& ticks);

// A grid of dots, drawn as braille (2 x 4 dots a character) or as one ASCII character a dot; marks lie over them, each a
// character of its own.
class Canvas {
 public:
  Canvas(int columns, int lines, bool unicode);

  int across() const { return across_; }
  int down() const { return down_; }
  int columns() const { return columns_; }
  int lines() const { return lines_; }
  // The dot at a share of the width, from the left, and of the height, from below.
  int X(double share) const;
  int Y(double share) const;

  // `mark` is what an ASCII canvas shows. Points ('o') win over lines.
  void Set(int x, int y, char mark);
  // Straight lines along the axes: across with both ends, down without them, so that a corner belongs to what goes across.
  void DrawAcross(int from, int to, int y);
  void DrawDown(int x, int from, int to);
  // One character over the dots around (x, y), in place of them.
  void Mark(int x, int y, std::string_view unicode, char ascii);

  std::string Line(int line) const;
  // The line in which a share of the height lies.
  int LineOf(double share) const { return Y(share) * lines_ / down_; }

 private:
  std::size_t IndexOf(int x, int y) const;
  std::string Braille(int column, int line) const;

  bool unicode_;
  int columns_;
  int lines_;
  int across_;
  int down_;
  std::vector<char> dots_;
  std::vector<std::string> marks_;  // Of each character; most are empty.
};

// What stands at the ends and in the middle of the axis under a picture.
struct AxisWords {
  std::string left;
  std::string middle;
  std::string right;
};

// The columns that figures beside a picture take.
int LabelWidth(const std::vector<double>& ticks);
// The picture between its axes: the ticks beside it, the words under it. Lines without newlines.
std::vector<std::string> WithAxes(const Canvas& canvas,
                                  const std::vector<double>& ticks,
                                  const AxisWords& words,
                                  bool unicode);

}  // namespace vernier::cli
