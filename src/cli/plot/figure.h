#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/cli/plot/palette.h"
#include "src/cli/plot/scale.h"

// A figure as values: panels with axes, marks in data units, a legend. The code that makes figures does not know how
// they are drawn; the renderers (svg_renderer.h, text_renderer.h) do not know studies.
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
  std::string title;  // Tooltip; empty: none.
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
// A rectangle parallel to the axes.
struct Box {
  At from;
  At to;
  Paint paint;
  Fill fill = Fill::kSolid;
  std::string title;
};

// Text at a position inside a panel.
struct Words {
  At at;
  std::string text;
  Paint paint = {.ink = Ink::kMuted};
  enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd } anchor = Anchor::kStart;
};

// Levels on a grid: values[j * x.size() + i] is at (x[i], y[j]), from 0, the worst, to 1, the best; NaN: unknown.
struct Field {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> values;
  // Each value fills its own rectangle; otherwise levels are interpolated between values.
  bool blocks = false;
};

using Mark = std::variant<Field, Band, Box, Line, Dot, Words>;

struct Axis {
  AxisScale scale = AxisScale::Linear(0, 1);
  std::string label;
  bool visible = true;
};

// An additional vertical axis inside a panel, at `x`.
struct Ruler {
  double x = 0;
  AxisScale scale = AxisScale::Linear(0, 1);
  std::string label;
};

// Later marks cover earlier ones.
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
  std::optional<Shape> shape;  // Set: the entry shows a dot.
  bool is_box = false;         // Otherwise a box, or if false a line.
  Fill fill = Fill::kSolid;
  bool dashed = false;
};

// The meaning of the ramp's colours.
struct ColorBar {
  AxisScale scale = AxisScale::Linear(0, 1);  // Share 0 is the colour of level 0.
  std::string label;
};

struct Figure {
  std::string title;
  std::string subtitle;
  std::vector<Panel> panels;
  int columns = 1;            // Panels beside each other, if there is room.
  double panel_height = 300;  // In pixels, for SVG.
  int panel_lines = 0;        // Lines on a terminal; 0: as the renderer's options say.
  std::vector<LegendEntry> legend;
  std::optional<ColorBar> bar;
  std::vector<std::string> notes;  // Sentences below the figure.
  // Shown instead of everything but the title if there is nothing to draw.
  std::string empty;
};

}  // namespace vernier::plot
