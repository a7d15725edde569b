// Draws figures with characters: lines and clouds of points in braille, single trials as glyphs, areas as blocks. Every
// mark also has an ASCII form, and shapes differ without colour, since terminals may lack either.

#include "src/cli/plot/text_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "src/cli/plot/canvas.h"
#include "src/cli/terminal/text.h"

namespace vernier::plot {
namespace {

using cli::DisplayWidth;
using cli::PadLeft;
using cli::PadRight;
using cli::Truncate;

// A choice: a narrower panel has hardly room for its labels.
constexpr int kLeastPanelWidth = 36;
constexpr int kTextGap = 2;
// If discs take more than this share of a panel's characters, they are drawn as fine dots. A choice: glyphs would cover
// each other.
constexpr double kCrowded = 0.12;

struct Look {
  std::string_view unicode;
  std::string_view ascii;
  std::string_view In(bool is_unicode) const { return is_unicode ? unicode : ascii; }
};

Look LookOf(Shape shape) {
  switch (shape) {
    case Shape::kDisc:
      return {"•", "o"};
    case Shape::kRing:
      return {"○", "!"};
    case Shape::kCross:
      return {"×", "x"};
    case Shape::kDiamond:
      return {"◇", "s"};
    case Shape::kSquare:
      return {"□", "r"};
    case Shape::kPlus:
      return {"+", "+"};
    case Shape::kStar:
      return {"★", "*"};
    case Shape::kUp:
      return {"▲", "^"};
    case Shape::kDown:
      return {"▼", "v"};
  }
  return {"•", "o"};
}

// Boxes differ by colour, and without colour by their fill character.
Look LookOf(const Paint& paint, Fill fill) {
  if (fill == Fill::kPale) return {"░", "."};
  switch (paint.ink) {
    case Ink::kRed:
      return {"╳", "x"};
    case Ink::kOrange:
      return {"▓", "s"};
    case Ink::kGreen:
      return {"▶", ">"};
    case Ink::kPurple:
      return {"▬", "="};
    case Ink::kSky:
    case Ink::kMuted:
      return {"▒", ":"};
    default:
      return {"█", "#"};
  }
}

// The character of a level between the worst and the best; none of them is a mark of a trial.
std::string_view ShadeOf(double level, bool unicode, bool color) {
  constexpr std::array<std::string_view, 5> kShades = {" ", "░", "▒", "▓", "█"};
  constexpr std::array<std::string_view, 10> kRamp = {
      " ", ".", ",", ":", ";", "~", "=", "%", "#", "@"};
  if (unicode && color) return "█";
  const auto pick = [level](const auto& shades) {
    const auto count = static_cast<double>(shades.size());
    return shades[static_cast<std::size_t>(std::clamp(level * count, 0.0, count - 1))];
  };
  return unicode ? pick(kShades) : pick(kRamp);
}

// Draws one panel's marks.
class Painter {
 public:
  Painter(const Panel& panel, const TextOptions& options, Canvas& canvas)
      : panel_(panel), options_(options), canvas_(canvas) {
    // Rings, crosses and stars stay glyphs: there are few, and they are what the reader looks for.
    const auto discs = std::count_if(panel.marks.begin(), panel.marks.end(), [](const Mark& mark) {
      const Dot* dot = std::get_if<Dot>(&mark);
      return dot != nullptr && dot->shape == Shape::kDisc;
    });
    is_crowded_ = static_cast<double>(discs) > kCrowded * canvas.columns() * canvas.lines();
  }

  void operator()(const Line& line) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const double x0 = X(line.points[i - 1].x);
      const double y0 = Y(line.points[i - 1].y);
      const double x1 = X(line.points[i].x);
      const double y1 = Y(line.points[i].y);
      // A sum is finite only if all its parts are.
      if (std::isfinite(x0 + y0 + x1 + y1)) canvas_.Segment(x0, y0, x1, y1, line.paint);
    }
  }

  // Only the borders of a band: fill characters would hide the dots of trials.
  void operator()(const Band& band) {
    for (const std::vector<double>* border : {&band.low, &band.high}) {
      for (std::size_t i = 0; i < band.x.size(); ++i) {
        const double y = Y((*border)[i]);
        if (std::isfinite(y)) canvas_.Dot(X(band.x[i]), y, {.ink = Ink::kMuted});
      }
    }
  }

  void operator()(const Dot& dot) {
    if (is_crowded_ && dot.shape == Shape::kDisc) {
      canvas_.Dot(X(dot.at.x), Y(dot.at.y), dot.paint);
    } else {
      canvas_.Glyph(X(dot.at.x), Y(dot.at.y), LookOf(dot.shape).In(options_.unicode), dot.paint);
    }
  }

  void operator()(const Box& box) {
    const double left = std::min(X(box.from.x), X(box.to.x));
    const double right = std::max(X(box.from.x), X(box.to.x));
    const double below = std::min(Y(box.from.y), Y(box.to.y));
    const double above = std::max(Y(box.from.y), Y(box.to.y));
    if (!std::isfinite(left + right + below + above) || right < 0 || left > 1) return;
    // The characters whose centre the box covers, at least one.
    const auto first = static_cast<int>(std::ceil(std::max(0.0, left) * canvas_.columns() - 0.5));
    const auto last =
        static_cast<int>(std::floor(std::min(1.0, right) * canvas_.columns() - 0.5 - 1e-9));
    const int line = canvas_.LineOf((below + above) / 2);
    const int top =
        std::min(line, static_cast<int>(std::ceil((1 - above) * canvas_.lines() - 0.5)));
    const int bottom =
        std::max(line, static_cast<int>(std::floor((1 - below) * canvas_.lines() - 0.5 - 1e-9)));
    const int from = std::min(first, canvas_.columns() - 1);
    for (int y = top; y <= bottom; ++y) {
      for (int x = from; x <= std::max(from, last); ++x) {
        canvas_.GlyphAt(x, y, LookOf(box.paint, box.fill).In(options_.unicode), box.paint);
      }
    }
  }

  void operator()(const Field& field) {
    const auto nearest =
        [](const std::vector<double>& places, const AxisScale& scale, double share) {
          std::size_t best = 0;
          // Farther than any share can be from another.
          double distance = 2;
          for (std::size_t i = 0; i < places.size(); ++i) {
            const double apart = std::abs(scale.Share(places[i]) - share);
            if (apart < distance) {
              distance = apart;
              best = i;
            }
          }
          return best;
        };
    if (field.x.empty() || field.y.empty()) return;
    // Each character shows the value that is nearest to its centre.
    for (int line = 0; line < canvas_.lines(); ++line) {
      const std::size_t j = nearest(field.y, panel_.y.scale, 1 - (line + 0.5) / canvas_.lines());
      for (int column = 0; column < canvas_.columns(); ++column) {
        const std::size_t i = nearest(field.x, panel_.x.scale, (column + 0.5) / canvas_.columns());
        const double level = field.values[j * field.x.size() + i];
        if (std::isnan(level)) continue;
        canvas_.BackdropAt(column,
                           line,
                           ShadeOf(level, options_.unicode, options_.color),
                           {.ink = Ink::kRamp, .level = level});
      }
    }
  }

  void operator()(const Words& words) {
    const double x = X(words.at.x);
    const double y = Y(words.at.y);
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
    const int width = DisplayWidth(words.text);
    int column = canvas_.ColumnOf(x);
    if (words.anchor == Words::Anchor::kMiddle) column -= width / 2;
    if (words.anchor == Words::Anchor::kEnd) column -= width;
    // Moved inside rather than cut.
    canvas_.Text(std::clamp(column, 0, std::max(0, canvas_.columns() - width)),
                 canvas_.LineOf(y),
                 words.text,
                 words.paint);
  }

 private:
  double X(double value) const { return panel_.x.scale.Share(value); }
  double Y(double value) const { return panel_.y.scale.Share(value); }

  const Panel& panel_;
  const TextOptions& options_;
  Canvas& canvas_;
  bool is_crowded_ = false;
};

// The label beside each line of a panel; most are empty.
std::vector<std::string> LabelsBeside(const Panel& panel, int lines, int most) {
  std::vector<std::string> labels(static_cast<std::size_t>(lines));
  if (!panel.y.visible) return labels;
  for (const Tick& tick : panel.y.scale.Ticks(std::clamp(lines / 3, 2, 6))) {
    const double share = panel.y.scale.Share(tick.value);
    const auto line =
        static_cast<std::size_t>(std::clamp(static_cast<int>((1 - share) * lines), 0, lines - 1));
    // Two ticks on one line: the first stays.
    if (labels[line].empty()) labels[line] = Truncate(tick.label, most);
  }
  return labels;
}

// Places words at their columns, leaving out those that would touch; words at the ends are moved inside.
std::string Placed(const std::vector<std::pair<double, std::string>>& words, int columns) {
  std::string text;
  int used = 0;
  for (const auto& [share, word] : words) {
    const int width = DisplayWidth(word);
    const int column =
        std::clamp(static_cast<int>(share * columns) - width / 2, 0, std::max(0, columns - width));
    // At least one blank between words.
    if (width == 0 || (used > 0 && column <= used)) continue;
    if (column + width > columns) continue;
    text += std::string(static_cast<std::size_t>(column - used), ' ') + word;
    used = column + width;
  }
  return text;
}

std::string LabelsBelow(const Panel& panel, int columns) {
  std::vector<std::pair<double, std::string>> words;
  const std::vector<Tick> ticks = panel.x.scale.Ticks(std::clamp(columns / 9, 2, 8));
  const int most = panel.x.scale.is_category()
                       ? std::max(1, columns / std::max(1, static_cast<int>(ticks.size())) - 1)
                       : columns;
  words.reserve(ticks.size());
  for (const Tick& tick : ticks) {
    words.emplace_back(panel.x.scale.Share(tick.value), Truncate(tick.label, most));
  }
  return Placed(words, columns);
}

// One line of all rulers: the values at their upper end (`which` 1) or lower end (-1), or their names (0).
std::string RulerLine(const Panel& panel, int columns, int which) {
  std::vector<std::pair<double, std::string>> words;
  const int most = std::max(4, columns / std::max(1, static_cast<int>(panel.rulers.size())) - 1);
  for (const Ruler& ruler : panel.rulers) {
    std::string word = ruler.label;
    if (which != 0) {
      const std::vector<Tick> ticks = ruler.scale.Ticks(5);
      // The tick that is nearest to the end is what the axis' end is worth to the reader.
      const auto nearest =
          std::min_element(ticks.begin(), ticks.end(), [&](const Tick& a, const Tick& b) {
            const double end = which > 0 ? 1 : 0;
            return std::abs(ruler.scale.Share(a.value) - end) <
                   std::abs(ruler.scale.Share(b.value) - end);
          });
      if (nearest != ticks.end()) word = nearest->label;
    }
    words.emplace_back(panel.x.scale.Share(ruler.x), Truncate(word, most));
  }
  return Placed(words, columns);
}

std::string Repeated(std::string_view glyph, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += glyph;
  return text;
}

int WidestLabel(const std::vector<std::string>& labels) {
  int widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, DisplayWidth(label));
  return widest;
}

// A panel as lines of at most `width` columns.
std::vector<std::string> PanelLines(const Panel& panel,
                                    int width,
                                    int height,
                                    const TextOptions& options) {
  // A third of the width at most, so that long names of categories leave room for the panel.
  const std::vector<std::string> labels = LabelsBeside(panel, height, std::max(6, width / 3));
  const int margin = panel.y.visible ? WidestLabel(labels) + 1 : 0;
  const int columns = std::max(8, width - margin - (panel.y.visible ? 1 : 0));
  Canvas canvas(columns, height, options.unicode);
  // Rulers are backdrops, so that lines of trials are drawn over them.
  for (const Ruler& ruler : panel.rulers) {
    const int column = canvas.ColumnOf(panel.x.scale.Share(ruler.x));
    for (int line = 0; line < height; ++line) {
      canvas.BackdropAt(column, line, options.unicode ? "│" : "|", {.ink = Ink::kMuted});
    }
  }
  Painter painter(panel, options, canvas);
  for (const Mark& mark : panel.marks) std::visit(painter, mark);
  std::vector<std::string> lines;
  const std::string heading = !panel.title.empty() ? panel.title
                              : panel.y.visible    ? panel.y.label
                                                   : "";
  if (!heading.empty()) lines.push_back(Truncate(heading, width));
  if (!panel.rulers.empty()) lines.push_back(RulerLine(panel, columns, 1));
  for (int line = 0; line < height; ++line) {
    std::string text;
    if (panel.y.visible) {
      const std::string& label = labels[static_cast<std::size_t>(line)];
      text = PadLeft(label, margin - 1) + " ";
      text += label.empty() ? (options.unicode ? "│" : "|") : (options.unicode ? "┤" : "+");
    }
    lines.push_back(text + canvas.Line(line, options.color));
  }
  if (!panel.rulers.empty()) {
    lines.push_back(RulerLine(panel, columns, -1));
    lines.push_back(RulerLine(panel, columns, 0));
  }
  if (!panel.x.visible) return lines;
  const std::string indent(static_cast<std::size_t>(margin), ' ');
  if (panel.y.visible) {
    lines.push_back(indent + (options.unicode ? "└" : "+") +
                    Repeated(options.unicode ? "─" : "-", columns));
  }
  const std::string inset = indent + (panel.y.visible ? " " : "");
  lines.push_back(inset + LabelsBelow(panel, columns));
  if (!panel.x.label.empty()) {
    const std::string label = Truncate(panel.x.label, columns);
    lines.push_back(
        inset + std::string(static_cast<std::size_t>((columns - DisplayWidth(label)) / 2), ' ') +
        label);
  }
  return lines;
}

// The displayed width, without escape sequences.
int ShownWidth(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
    } else {
      plain += line[i];
    }
  }
  return DisplayWidth(plain);
}

void AddPanels(const Figure& figure, const TextOptions& options, std::vector<std::string>& lines) {
  // As many panels beside each other as fit.
  // One gap less than panels.
  const int fitting = std::max(1, (options.width + kTextGap) / (kLeastPanelWidth + kTextGap));
  const int columns = std::clamp(figure.columns, 1, fitting);
  const int width = (options.width - kTextGap * (columns - 1)) / columns;
  const int height = figure.panel_lines > 0 ? figure.panel_lines : options.height;
  for (std::size_t row = 0; row < figure.panels.size(); row += static_cast<std::size_t>(columns)) {
    const std::size_t end = std::min(figure.panels.size(), row + static_cast<std::size_t>(columns));
    std::vector<std::string> joined;
    for (std::size_t i = row; i < end; ++i) {
      const auto panel = PanelLines(figure.panels[i], width, height, options);
      joined.resize(std::max(joined.size(), panel.size()));
      const int left = static_cast<int>(i - row) * (width + kTextGap);
      for (std::size_t line = 0; line < panel.size(); ++line) {
        // Escape sequences take no columns, so that the length of the text says nothing.
        const int blanks = left - ShownWidth(joined[line]);
        joined[line] += std::string(static_cast<std::size_t>(std::max(0, blanks)), ' ');
        joined[line] += panel[line];
      }
    }
    // Trailing blanks would be copied with the text.
    for (std::string& line : joined) lines.push_back(line.erase(line.find_last_not_of(' ') + 1));
  }
}

std::string KeyOf(const LegendEntry& entry, bool unicode) {
  if (entry.shape) return std::string(LookOf(*entry.shape).In(unicode));
  if (entry.is_box) return std::string(LookOf(entry.paint, entry.fill).In(unicode));
  return unicode ? "─" : "-";
}

void AddLegend(const Figure& figure, const TextOptions& options, std::vector<std::string>& lines) {
  std::string line;
  int used = 0;
  for (const LegendEntry& entry : figure.legend) {
    const int takes = 2 + DisplayWidth(entry.text);
    // An entry is never split.
    if (used > 0 && used + 3 + takes > options.width) {
      lines.push_back(std::exchange(line, ""));
      used = 0;
    }
    if (used > 0) line += "   ";
    used += takes + (used > 0 ? 3 : 0);
    const std::string key = KeyOf(entry, options.unicode);
    line += (options.color ? Colored(key, entry.paint) : key) + " " +
            Truncate(entry.text, options.width - 2);
  }
  if (!line.empty()) lines.push_back(line);
}

void AddBar(const ColorBar& bar, const TextOptions& options, std::vector<std::string>& lines) {
  std::string ramp;
  for (int step = 0; step < kRampSteps; ++step) {
    const double level = (step + 0.5) / kRampSteps;
    const std::string shade(ShadeOf(level, options.unicode, options.color));
    ramp += options.color ? Colored(shade, {.ink = Ink::kRamp, .level = level}) : shade;
  }
  // Room for the two numbers and the ramp.
  lines.push_back(fmt::format("{}: {:.4g} {} {:.4g}",
                              Truncate(bar.label, std::max(4, options.width - 42)),
                              bar.scale.low(),
                              ramp,
                              bar.scale.high()));
}

}  // namespace

std::vector<std::string> RenderText(const Figure& figure, const TextOptions& options) {
  std::vector<std::string> lines;
  const auto add_wrapped = [&](const std::string& text) {
    for (const std::string& line : cli::Wrap(text, options.width)) lines.push_back(line);
  };
  if (!figure.empty.empty()) {
    add_wrapped(figure.empty);
    return lines;
  }
  lines.push_back(Truncate(figure.title, options.width));
  if (!figure.subtitle.empty()) add_wrapped(figure.subtitle);
  AddPanels(figure, options, lines);
  AddLegend(figure, options, lines);
  if (figure.bar) AddBar(*figure.bar, options, lines);
  for (const std::string& note : figure.notes) add_wrapped(note);
  return lines;
}

}  // namespace vernier::plot
