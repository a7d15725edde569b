// SVG without scripts, ids and external resources, so that several figures fit on one page without clashes. Colours are
// CSS classes, so that a file follows the reader's light or dark theme. The width of text is estimated, as fonts are
// known only to the viewer; labels are cut and thinned by that estimate. Clipping uses nested <svg> elements, since
// clip paths need ids.

#include "src/cli/plot/svg_renderer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/cli/plot/isoband.h"
#include "src/cli/terminal/text.h"
#include "src/core/utf8.h"

namespace vernier::plot {
namespace {

constexpr double kMargin = 16;
constexpr double kLineHeight = 16;
constexpr double kPanelGap = 20;
constexpr double kTickLength = 4;

// Estimated width: glyphs of a sans-serif font are on average a little over half as wide as high.
double TextWidth(std::string_view text, double size = 12) {
  return 0.56 * size * cli::DisplayWidth(text);
}

// "12.3", "7". A tenth of a pixel suffices, and keeps files small.
std::string Px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  // Rounding may leave a zero with a sign.
  return text == "-0" ? "0" : text;
}

std::string TitleElement(std::string_view title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", EscapeXml(title));
}

struct TextStyle {
  std::string_view anchor = "start";
  std::string_view type = "";  // Further classes.
};

std::string Text(double x, double y, std::string_view text, const TextStyle& style = {}) {
  const std::string type = style.type.empty() ? "" : fmt::format(" class=\"{}\"", style.type);
  const std::string anchor =
      style.anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", style.anchor);
  return fmt::format(
      "<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", Px(x), Px(y), anchor, type, EscapeXml(text));
}

// The rectangle of a panel's data on the page.
struct Frame {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

// Positions of a panel's data, relative to its frame's corner.
class Projection {
 public:
  Projection(const Panel& panel, const Frame& frame) : panel_(panel), frame_(frame) {}
  double X(double value) const { return panel_.x.scale.Share(value) * frame_.width; }
  double Y(double value) const { return (1 - panel_.y.scale.Share(value)) * frame_.height; }
  bool Holds(At at) const {
    // Trials exactly at an end of the axis are inside, whatever rounding does.
    const auto inside = [](double share) { return share > -1e-6 && share < 1 + 1e-6; };
    return inside(panel_.x.scale.Share(at.x)) && inside(panel_.y.scale.Share(at.y));
  }

 private:
  const Panel& panel_;
  const Frame& frame_;
};

// Limits coordinates far outside of the frame: viewers differ in how they treat huge ones.
double Bounded(double place) { return std::clamp(place, -1e4, 1e4); }

std::string PathOf(const std::vector<At>& points, const Projection& to) {
  std::string path;
  bool is_open = false;
  for (const At& point : points) {
    const double x = to.X(point.x);
    const double y = to.Y(point.y);
    // A NaN ends the path; the next point begins another part of it.
    if (std::isnan(x) || std::isnan(y)) {
      is_open = false;
      continue;
    }
    path += fmt::format("{}{} {}", is_open ? "L" : "M", Px(Bounded(x)), Px(Bounded(y)));
    is_open = true;
  }
  return path;
}

std::string Draw(const Line& line, const Projection& to) {
  const std::string path = PathOf(line.points, to);
  if (path.empty()) return "";
  std::string look = fmt::format(" stroke-width=\"{}\"", Px(line.width));
  if (line.opacity < 1) look += fmt::format(" stroke-opacity=\"{:.2g}\"", line.opacity);
  if (line.dashed) look += " stroke-dasharray=\"5 4\"";
  return fmt::format("<path class=\"v-line {}\" d=\"{}\"{}>{}</path>\n",
                     ClassOf(line.paint),
                     path,
                     look,
                     TitleElement(line.title));
}

// The area of band points i to j - 1, which have no NaN.
std::string Stretch(const Band& band, const Projection& to, std::size_t i, std::size_t j) {
  std::string path;
  // There along the upper border, and back along the lower one.
  for (std::size_t k = i; k < j; ++k) {
    path += fmt::format("{}{} {}",
                        path.empty() ? "M" : "L",
                        Px(Bounded(to.X(band.x[k]))),
                        Px(Bounded(to.Y(band.high[k]))));
  }
  for (std::size_t k = j; k-- > i;) {
    path += fmt::format("L{} {}", Px(Bounded(to.X(band.x[k]))), Px(Bounded(to.Y(band.low[k]))));
  }
  return path + "Z";
}

std::string Draw(const Band& band, const Projection& to) {
  std::string path;
  const auto known = [&](std::size_t i) {
    return !std::isnan(to.Y(band.low[i])) && !std::isnan(to.Y(band.high[i]));
  };
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    if (!known(i)) continue;
    std::size_t end = i;
    while (end < band.x.size() && known(end)) ++end;
    path += Stretch(band, to, i, end);
    i = end;
  }
  if (path.empty()) return "";
  return fmt::format("<path class=\"v-pale {}\" d=\"{}\"/>\n", ClassOf(band.paint), path);
}

std::string Draw(const Box& box, const Projection& to) {
  const double x0 = Bounded(std::min(to.X(box.from.x), to.X(box.to.x)));
  const double x1 = Bounded(std::max(to.X(box.from.x), to.X(box.to.x)));
  const double y0 = Bounded(std::min(to.Y(box.from.y), to.Y(box.to.y)));
  const double y1 = Bounded(std::max(to.Y(box.from.y), to.Y(box.to.y)));
  if (std::isnan(x0 + x1 + y0 + y1)) return "";
  // A box too thin to be seen would hide that something happened.
  return fmt::format(
      "<rect class=\"{} {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>\n",
      box.fill == Fill::kPale ? "v-pale" : "v-fill",
      ClassOf(box.paint),
      Px(x0),
      Px(y0),
      Px(std::max(0.8, x1 - x0)),
      Px(std::max(0.5, y1 - y0)),
      TitleElement(box.title));
}

std::string Draw(const Field& field, const Projection& to) {
  std::string svg;
  for (const Isoband& band : Isobands(field, kRampSteps)) {
    std::string path;
    for (const std::vector<At>& polygon : band.polygons) {
      std::string part;
      for (const At& corner : polygon) {
        part += fmt::format(
            "{}{} {}", part.empty() ? "M" : "L", Px(to.X(corner.x)), Px(to.Y(corner.y)));
      }
      path += part + "Z";
    }
    const double level = (band.step + 0.5) / kRampSteps;
    // Antialiasing would draw seams between adjacent blocks.
    svg += fmt::format("<path class=\"v-fill {}\" d=\"{}\"{}/>\n",
                       ClassOf({.ink = Ink::kRamp, .level = level}),
                       path,
                       field.blocks ? " shape-rendering=\"crispEdges\"" : "");
  }
  return svg;
}

// The outline of a shape around (x, y).
std::string ShapePath(Shape shape, double x, double y, double r) {
  const auto polygon = [&](const std::vector<At>& corners) {
    std::string path;
    for (const At& corner : corners) {
      path += fmt::format(
          "{}{} {}", path.empty() ? "M" : "L", Px(x + r * corner.x), Px(y + r * corner.y));
    }
    return path + "Z";
  };
  switch (shape) {
    case Shape::kDiamond:
      return polygon({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}});
    case Shape::kSquare:
      return polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Shape::kUp:
      return polygon({{0, -1.1}, {1.1, 0.9}, {-1.1, 0.9}});
    case Shape::kDown:
      return polygon({{0, 1.1}, {1.1, -0.9}, {-1.1, -0.9}});
    case Shape::kStar: {
      std::vector<At> corners;
      // Ten corners, far and near by turns.
      for (int i = 0; i < 10; ++i) {
        const double angle = (i * 36 - 90) * 3.14159265358979 / 180;
        const double reach = i % 2 == 0 ? 1.6 : 0.66;
        corners.push_back({reach * std::cos(angle), reach * std::sin(angle)});
      }
      return polygon(corners);
    }
    case Shape::kCross:
      return fmt::format("M{0} {1}L{2} {3}M{0} {3}L{2} {1}",
                         Px(x - r * 0.85),
                         Px(y - r * 0.85),
                         Px(x + r * 0.85),
                         Px(y + r * 0.85));
    case Shape::kPlus:
      return fmt::format(
          "M{0} {1}V{2}M{3} {4}H{5}", Px(x), Px(y - r), Px(y + r), Px(x - r), Px(y), Px(x + r));
    case Shape::kDisc:
    case Shape::kRing:
      break;
  }
  return "";
}

std::string DrawShape(
    Shape shape, double x, double y, double r, const Paint& paint, std::string_view title) {
  const bool is_open = shape == Shape::kRing || shape == Shape::kCross || shape == Shape::kPlus;
  const std::string color = ClassOf(paint);
  const auto element = [&](const std::string& type, std::string_view shown) {
    if (shape == Shape::kDisc || shape == Shape::kRing) {
      return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n",
                         type,
                         Px(x),
                         Px(y),
                         Px(r),
                         TitleElement(shown));
    }
    return fmt::format("<path class=\"{}\" d=\"{}\">{}</path>\n",
                       type,
                       ShapePath(shape, x, y, r),
                       TitleElement(shown));
  };
  // Unfilled shapes get a halo in the colour of the paper, so that they stand out on any background.
  if (is_open) return element("v-under", "") + element("v-open " + color, title);
  return element("v-dot " + color, title);
}

std::string Draw(const Dot& dot, const Projection& to) {
  if (!to.Holds(dot.at)) return "";
  return DrawShape(dot.shape, to.X(dot.at.x), to.Y(dot.at.y), dot.size, dot.paint, dot.title);
}

std::string Draw(const Words& words, const Projection& to) {
  if (!to.Holds(words.at)) return "";
  const std::string_view anchor = words.anchor == Words::Anchor::kStart    ? "start"
                                  : words.anchor == Words::Anchor::kMiddle ? "middle"
                                                                           : "end";
  // Half the height of the letters, as SVG places text by its baseline.
  return Text(to.X(words.at.x),
              to.Y(words.at.y) + 4,
              words.text,
              {.anchor = anchor, .type = "v-small " + ClassOf(words.paint)});
}

// Dots and words may extend beyond their panel; all other marks are clipped.
bool IsClipped(const Mark& mark) {
  return !std::holds_alternative<Dot>(mark) && !std::holds_alternative<Words>(mark);
}

// The marks in order, relative to the panel's corner.
std::string Marks(const Panel& panel, const Frame& frame) {
  const Projection to(panel, frame);
  std::string svg;
  bool is_clipping = false;
  for (const Mark& mark : panel.marks) {
    // Marks are drawn in order, so that a nested element is opened and closed as kinds of marks alternate.
    if (IsClipped(mark) != is_clipping) {
      is_clipping = !is_clipping;
      // A nested <svg> clips its content.
      svg += is_clipping ? fmt::format("<svg width=\"{}\" height=\"{}\" overflow=\"hidden\">\n",
                                       Px(frame.width),
                                       Px(frame.height))
                         : "</svg>\n";
    }
    svg += std::visit([&to](const auto& each) { return Draw(each, to); }, mark);
  }
  if (is_clipping) svg += "</svg>\n";
  return svg;
}

int TicksAcross(const Panel& panel, double width) {
  double widest = 20;
  // The number of ticks depends on their width, and that on the ticks: six are measured as a sample.
  for (const Tick& tick : panel.x.scale.Ticks(6)) {
    widest = std::max(widest, TextWidth(tick.label, 11));
  }
  return std::clamp(static_cast<int>(width / (widest + 22)), 2, 12);
}
int TicksUp(const Frame& frame) { return std::clamp(static_cast<int>(frame.height / 45), 3, 8); }

// The ticks that fit beside each other; of a category axis only every second, third, … if necessary.
std::vector<Tick> FittingAcross(const Panel& panel, double width) {
  std::vector<Tick> ticks = panel.x.scale.Ticks(TicksAcross(panel, width));
  // Ticks of numbers were chosen to fit; categories have one tick each.
  if (!panel.x.scale.is_category() || ticks.size() < 2) return ticks;
  const double room = width / static_cast<double>(ticks.size());
  const int columns = std::max(3, static_cast<int>((room - 6) / (0.56 * 11)));
  for (Tick& tick : ticks) tick.label = cli::Truncate(tick.label, columns);
  // A label needs 24 pixels at least.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(24 / room)));
  std::vector<Tick> fitting;
  for (std::size_t i = 0; i < ticks.size(); i += every) fitting.push_back(ticks[i]);
  return fitting;
}

// The ticks of a vertical axis: at most one label for each line of text.
std::vector<Tick> FittingUp(const Axis& axis, const Frame& frame) {
  std::vector<Tick> ticks = axis.scale.Ticks(TicksUp(frame));
  if (!axis.scale.is_category()) return ticks;
  for (Tick& tick : ticks) tick.label = cli::Truncate(tick.label, 26);
  const double room = frame.height / static_cast<double>(std::max<std::size_t>(1, ticks.size()));
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(12 / room)));
  std::vector<Tick> fitting;
  for (std::size_t i = 0; i < ticks.size(); i += every) fitting.push_back(ticks[i]);
  return fitting;
}

std::string XAxis(const Panel& panel, const Frame& frame) {
  if (!panel.x.visible) return "";
  std::string svg;
  for (const Tick& tick : FittingAcross(panel, frame.width)) {
    const double x = panel.x.scale.Share(tick.value) * frame.width;
    svg += fmt::format(
        "<path class=\"v-axis\" d=\"M{} {}v{}\"/>\n", Px(x), Px(frame.height), Px(kTickLength));
    svg += Text(x, frame.height + 17, tick.label, {.anchor = "middle", .type = "v-small"});
  }
  svg +=
      fmt::format("<path class=\"v-axis\" d=\"M0 {}h{}\"/>\n", Px(frame.height), Px(frame.width));
  if (panel.x.label.empty()) return svg;
  return svg + Text(frame.width / 2, frame.height + 34, panel.x.label, {.anchor = "middle"});
}

std::string YAxis(const Panel& panel, const Frame& frame, double label_room) {
  if (!panel.y.visible) return "";
  std::string svg;
  const bool has_grid = !panel.y.scale.is_category();
  for (const Tick& tick : FittingUp(panel.y, frame)) {
    const double y = (1 - panel.y.scale.Share(tick.value)) * frame.height;
    // Lines between categories would mean nothing.
    if (has_grid) {
      svg += fmt::format("<path class=\"v-grid\" d=\"M0 {}h{}\"/>\n", Px(y), Px(frame.width));
    }
    svg += Text(-8, y + 4, tick.label, {.anchor = "end", .type = "v-small"});
  }
  svg += fmt::format("<path class=\"v-axis\" d=\"M0 0v{}\"/>\n", Px(frame.height));
  if (panel.y.label.empty()) return svg;
  return svg + fmt::format(
                   "<text transform=\"translate({} {}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   Px(-label_room + 11),
                   Px(frame.height / 2),
                   EscapeXml(cli::Truncate(panel.y.label,
                                           std::max(4, static_cast<int>(frame.height / 6.5)))));
}

std::string Rulers(const Panel& panel, const Frame& frame) {
  std::string svg;
  for (const Ruler& ruler : panel.rulers) {
    const double x = panel.x.scale.Share(ruler.x) * frame.width;
    const Axis axis = {.scale = ruler.scale};
    svg += fmt::format("<path class=\"v-axis\" d=\"M{} 0v{}\"/>\n", Px(x), Px(frame.height));
    for (const Tick& tick : FittingUp(axis, frame)) {
      const double y = (1 - ruler.scale.Share(tick.value)) * frame.height;
      svg += fmt::format("<path class=\"v-axis\" d=\"M{} {}h-4\"/>\n", Px(x), Px(y));
      // A halo, as labels of rulers stand among the lines of trials.
      svg += Text(x - 6, y + 3.5, tick.label, {.anchor = "end", .type = "v-tiny v-halo"});
    }
    svg += Text(x, frame.height + 20, ruler.label, {.anchor = "middle"});
  }
  return svg;
}

// Width of the labels left of the panel.
double RoomLeft(const Panel& panel, double height) {
  if (!panel.rulers.empty()) return 40;
  if (!panel.y.visible) return 0;
  double widest = 10;
  const Frame frame = {.height = height};
  for (const Tick& tick : FittingUp(panel.y, frame)) {
    widest = std::max(widest, TextWidth(tick.label, 11));
  }
  return widest + 12 + (panel.y.label.empty() ? 0 : 20);
}

double RoomRight(const Panel& panel) {
  if (panel.rulers.empty()) return 6;
  // Half of the last ruler's name stands to the right of it.
  return std::max(6.0, TextWidth(panel.rulers.back().label) / 2);
}

double RoomBelow(const Panel& panel) {
  if (!panel.rulers.empty()) return 30;
  if (!panel.x.visible) return 6;
  return panel.x.label.empty() ? 26 : 42;
}

std::string DrawPanel(const Panel& panel, const Frame& frame, double room_left) {
  std::string svg =
      fmt::format("<g transform=\"translate({} {})\">\n", Px(frame.left), Px(frame.top));
  if (!panel.title.empty()) {
    const int columns = std::max(4, static_cast<int>((frame.width + room_left) / 6.9));
    svg += Text(0, -8, cli::Truncate(panel.title, columns), {.type = "v-bold"});
  }
  svg += YAxis(panel, frame, room_left);
  svg += Marks(panel, frame);
  svg += XAxis(panel, frame);
  svg += Rulers(panel, frame);
  return svg + "</g>\n";
}

// The legend from left to right, in as many lines as it needs; moves `y` below it.
std::string Legend(const std::vector<LegendEntry>& entries, double width, double& y) {
  std::string svg;
  double x = kMargin;
  for (const LegendEntry& entry : entries) {
    const double takes = 26 + TextWidth(entry.text) + 18;
    // The first entry of a line is never moved to the next.
    if (x > kMargin && x + takes > width - kMargin) {
      x = kMargin;
      y += kLineHeight + 4;
    }
    if (entry.shape) {
      svg += DrawShape(*entry.shape, x + 10, y - 4, 4, entry.paint, "");
    } else if (entry.is_box) {
      svg += fmt::format("<rect class=\"{} {}\" x=\"{}\" y=\"{}\" width=\"18\" height=\"10\"/>\n",
                         entry.fill == Fill::kPale ? "v-pale" : "v-fill",
                         ClassOf(entry.paint),
                         Px(x),
                         Px(y - 9));
    } else {
      svg += fmt::format("<path class=\"v-line {}\" d=\"M{} {}h18\" stroke-width=\"2\"{}/>\n",
                         ClassOf(entry.paint),
                         Px(x),
                         Px(y - 4),
                         entry.dashed ? " stroke-dasharray=\"5 4\"" : "");
    }
    svg += Text(x + 24, y, entry.text);
    x += takes;
  }
  if (!entries.empty()) y += kLineHeight + 4;
  return svg;
}

std::string Bar(const ColorBar& bar, double width, double& y) {
  const double left = kMargin + TextWidth(bar.label) + 12;
  const double length = std::min(260.0, width - left - kMargin);
  std::string svg = Text(kMargin, y, bar.label);
  for (int step = 0; step < kRampSteps; ++step) {
    // A little wider than a step, so that no seam shows between the steps.
    svg +=
        fmt::format("<rect class=\"v-fill v-r{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\"/>\n",
                    step,
                    Px(left + step * length / kRampSteps),
                    Px(y - 9),
                    Px(length / kRampSteps + 0.4));
  }
  for (const Tick& tick : bar.scale.Ticks(6)) {
    const double x = left + bar.scale.Share(tick.value) * length;
    svg += fmt::format("<path class=\"v-axis\" d=\"M{} {}v4\"/>\n", Px(x), Px(y + 1));
    svg += Text(x, y + 17, tick.label, {.anchor = "middle", .type = "v-small"});
  }
  y += 2 * kLineHeight + 6;
  return svg;
}

std::string Heading(const Figure& figure, double width, double& y) {
  std::string svg;
  const int columns = static_cast<int>((width - 2 * kMargin) / 8.2);
  if (!figure.title.empty()) {
    y += 18;
    svg += Text(kMargin, y, cli::Truncate(figure.title, columns), {.type = "v-title"});
  }
  if (!figure.subtitle.empty()) {
    for (const std::string& line : cli::Wrap(figure.subtitle, columns * 7 / 5)) {
      y += kLineHeight + 1;
      svg += Text(kMargin, y, line, {.type = "v-muted"});
    }
  }
  return svg;
}

// All panels, in rows of figure.columns; moves `y` below them.
std::string Panels(const Figure& figure, double width, double& y) {
  std::string svg;
  const auto columns = static_cast<std::size_t>(std::max(1, figure.columns));
  const double share = (width - 2 * kMargin - kPanelGap * static_cast<double>(columns - 1)) /
                       static_cast<double>(columns);
  for (std::size_t row = 0; row < figure.panels.size(); row += columns) {
    const std::size_t end = std::min(figure.panels.size(), row + columns);
    double above = 10;
    double below = 0;
    // All panels of a row have the same height, so that their axes are level.
    for (std::size_t i = row; i < end; ++i) {
      if (!figure.panels[i].title.empty()) above = 32;
      below = std::max(below, RoomBelow(figure.panels[i]));
    }
    for (std::size_t i = row; i < end; ++i) {
      const Panel& panel = figure.panels[i];
      const double room = RoomLeft(panel, figure.panel_height);
      const double left = kMargin + static_cast<double>(i - row) * (share + kPanelGap);
      // A panel with wide labels still has a place for its data.
      svg += DrawPanel(panel,
                       {.left = left + room,
                        .top = y + above,
                        .width = std::max(40.0, share - room - RoomRight(panel)),
                        .height = figure.panel_height},
                       room);
    }
    y += above + figure.panel_height + below;
  }
  return svg;
}

std::string Notes(const Figure& figure, double width, double& y) {
  std::string svg;
  for (const std::string& note : figure.notes) {
    for (const std::string& line : cli::Wrap(note, static_cast<int>((width - 2 * kMargin) / 6.2))) {
      svg += Text(kMargin, y, line, {.type = "v-small v-muted"});
      y += kLineHeight - 1;
    }
  }
  return svg;
}

std::string Description(const Figure& figure) {
  // For readers that cannot see the figure: subtitle and notes say the same in words.
  std::string text = figure.subtitle;
  for (const std::string& note : figure.notes) text += (text.empty() ? "" : ". ") + note;
  if (!figure.empty.empty()) text = figure.empty;
  return text;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : ToValidUtf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // XML 1.0 cannot represent control characters, not even as references.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

std::string SvgStyle() {
  std::string light =
      ".v{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
      ".v .v-title{font-size:16px;font-weight:600}.v .v-bold{font-weight:600}"
      ".v .v-small{font-size:11px}.v .v-tiny{font-size:10px}"
      ".v .v-line{fill:none;stroke-linejoin:round;stroke-linecap:round}"
      ".v .v-pale{fill-opacity:.22}"
      ".v .v-open{fill:none;stroke-width:1.6}"
      ".v .v-under{fill:none;stroke-width:3.6}"
      ".v .v-dot{stroke-width:.7}"
      ".v .v-halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}";
  // Light rules first; the media query overrides them in viewers that prefer dark.
  std::string themes[2];
  for (const bool dark : {false, true}) {
    std::string& css = themes[dark ? 1 : 0];
    const auto hex = [dark](Ink ink) { return Hex(ColorOf(ink, dark)); };
    const std::string paper = dark ? "#16191d" : "#ffffff";
    css += fmt::format(
        ".v .v-paper{{fill:{0}}}.v text{{fill:{1}}}.v .v-grid{{stroke:{2};fill:none}}"
        ".v .v-axis{{stroke:{3};fill:none}}.v .v-halo,.v .v-dot,.v .v-under{{stroke:{0}}}",
        paper,
        hex(Ink::kText),
        hex(Ink::kFaint),
        hex(Ink::kMuted));
    const auto add = [&css](const std::string& name, const std::string& color) {
      css += fmt::format(
          ".v .v-line.{0},.v .v-open.{0}{{stroke:{1}}}"
          ".v .v-fill.{0},.v .v-pale.{0},.v .v-dot.{0},.v text.{0}{{fill:{1}}}",
          name,
          color);
    };
    for (const Ink ink : kPlainInks) add(ClassOf({.ink = ink}), hex(ink));
    for (int step = 0; step < kRampSteps; ++step) {
      add(fmt::format("v-r{}", step), Hex(RampColor(step, dark)));
    }
  }
  return light + themes[0] + "@media screen and (prefers-color-scheme:dark){" + themes[1] + "}";
}

std::string RenderSvg(const Figure& figure, const SvgOptions& options) {
  double y = 10;
  std::string body = Heading(figure, options.width, y);
  if (!figure.empty.empty()) {
    y += 28;
    for (const std::string& line :
         cli::Wrap(figure.empty, static_cast<int>((options.width - 2 * kMargin) / 6.6))) {
      body += Text(kMargin, y, line, {.type = "v-muted"});
      y += kLineHeight;
    }
  } else {
    body += Panels(figure, options.width, y);
    y += 16;
    body += Legend(figure.legend, options.width, y);
    if (figure.bar) body += Bar(*figure.bar, options.width, y);
    body += Notes(figure, options.width, y);
  }
  const std::string size =
      fmt::format("viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\"", Px(options.width), Px(y));
  std::string svg =
      fmt::format("<svg {}class=\"v\" {} role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
                  options.standalone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "",
                  size,
                  EscapeXml(figure.title),
                  EscapeXml(Description(figure)));
  if (options.standalone) {
    svg +=
        fmt::format("<style>{}</style>\n<rect class=\"v-paper\" width=\"100%\" height=\"100%\"/>\n",
                    SvgStyle());
  }
  return svg + body + "</svg>\n";
}

}  // namespace vernier::plot
