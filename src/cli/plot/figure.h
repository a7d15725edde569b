#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/cli/plot/palette.h"
#include "src/cli/plot/scale.h"

// A figure as values: panels with axes, marks in the units of the data, a legend. What makes figures knows nothing of how
// they are shown; what shows them (svg_renderer.h, text_renderer.h) knows nothing of studies.
namespace vernier::plot {

struct At {
  double x = 0;
  double y = 0;
};

// A line through points. A point with a NaN breaks it.
struct Line {
  std::vector<At> points;
  Paint paint;
  double width = 1.5;
  double opacity = 1;
  bool dashed = false;
  std::string title;  // Shown when the mark is pointed at; empty: none.
};

// The area between two curves. A NaN breaks it.
struct Band {
  std::vector<double> x;
  std::vector<double> low;
  std::vector<double> high;
  Paint paint;
};

enum class Shape : std::uint8_t {
  kDisc,
  kRing,
  kCross,
  kDiamond,
  kSquare,
  kPlus,
  kStar,
  kUp,
  kDown
};

struct Dot {
  At at;
  Shape shape = Shape::kDisc;
  Paint paint;
  double size = 4;  // Half of its width.
  std::string title;
};

enum class Fill : std::uint8_t { kSolid, kPale };
// A rectangle along the axes.
struct Box {
  At from;
  At to;
  Paint paint;
  Fill fill = Fill::kSolid;
  std::string title;
};

// Words at a place inside a panel.
struct Words {
  At at;
  std::string text;
  Paint paint = {.ink = Ink::kMuted};
  enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd } anchor = Anchor::kStart;
};

// Levels over a grid: values[j * x.size() + i] belongs to (x[i], y[j]), 0 the worst and 1 the best; NaN: not known.
struct Field {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> values;
  // Each value fills its own rectangle; else levels run smoothly between values.
  bool blocks = false;
};

using Mark = std::variant<Field, Band, Box, Line, Dot, Words>;

struct Axis {
  AxisScale scale = AxisScale::Linear(0, 1);
  std::string label;
  bool visible = true;
};

// A further upright axis inside a panel, at `x`.
struct Ruler {
  double x = 0;
  AxisScale scale = AxisScale::Linear(0, 1);
  std::string label;
};

// Marks that come later lie over earlier ones.
struct Panel {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Ruler> rulers;
  std::vector<Mark> marks;
};

struct LegendEntry {
  std::string text;
  Paint paint;
  std::optional<Shape> shape;  // A dot, or
  bool is_box = false;         // a box, else a line.
  Fill fill = Fill::kSolid;
  bool dashed = false;
};

// What the colours of the ramp mean.
struct ColorBar {
  AxisScale scale = AxisScale::Linear(0, 1);  // Share 0 is the colour of level 0.
  std::string label;
};

struct Figure {
  std::string title;
  std::string subtitle;
  std::vector<Panel> panels;
  int columns = 1;            // Panels beside each other, where there is room.
  double panel_height = 300;  // In pixels; a terminal has its own measure.
  int panel_lines = 0;        // Lines of a panel on a terminal; 0: as many as are left to it.
  std::vector<LegendEntry> legend;
  std::optional<ColorBar> bar;
  std::vector<std::string> notes;  // Sentences below.
  // Shown in place of everything but the title if there is nothing to draw.
  std::string empty;
};

}  // namespace vernier::plot
