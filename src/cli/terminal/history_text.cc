#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/history.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

// A grid of dots, drawn as braille (2 x 4 dots a character) or as one ASCII character a dot.
class Canvas {
 public:
  Canvas(int columns, int lines, bool unicode)
      : unicode_(unicode),
        across_(unicode ? columns * 2 : columns),
        down_(unicode ? lines * 4 : lines),
        dots_(static_cast<std::size_t>(across_) * down_, ' ') {}

  int across() const { return across_; }
  int down() const { return down_; }

  // `mark` is what an ASCII canvas shows. Points win over lines.
  void Set(int x, int y, char mark) {
    char& dot = dots_[static_cast<std::size_t>(y) * across_ + x];
    if (dot != 'o') dot = mark;
  }

  std::string Line(int line) const {
    std::string text;
    if (!unicode_) {
      for (int x = 0; x < across_; ++x) text += At(x, line);
      return text;
    }
    for (int column = 0; column < across_ / 2; ++column) text += Braille(column, line);
    return text;
  }

 private:
  char At(int x, int y) const { return dots_[static_cast<std::size_t>(y) * across_ + x]; }

  std::string Braille(int column, int line) const {
    // Unicode's order of the eight dots: down the left side, down the right, then the lowest pair.
    constexpr std::array<std::array<unsigned, 2>, 4> kBits = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    unsigned bits = 0;
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 2; ++x) {
        if (At(column * 2 + x, line * 4 + y) != ' ') bits |= kBits[y][x];
      }
    }
    if (bits == 0) return " ";
    return {static_cast<char>(0xE2),
            static_cast<char>(0xA0 | (bits >> 6U)),
            static_cast<char>(0x80 | (bits & 0x3FU))};
  }

  bool unicode_;
  int across_;
  int down_;
  std::vector<char> dots_;
};

// Where values and trials lie on the canvas.
struct Frame {
  double low = 0;
  double high = 1;
  std::int64_t first = 1;
  std::int64_t last = 1;

  int X(std::int64_t trial, const Canvas& canvas) const {
    if (last == first) return canvas.across() / 2;
    const double share = static_cast<double>(trial - first) / static_cast<double>(last - first);
    return static_cast<int>(std::lround(share * (canvas.across() - 1)));
  }
  int Y(double value, const Canvas& canvas) const {
    const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
    return static_cast<int>(std::lround((1 - share) * (canvas.down() - 1)));
  }
};

std::vector<HistoryPoint> Drawable(const History& history) {
  std::vector<HistoryPoint> points;
  for (const HistoryPoint& point : history.points) {
    if (std::isfinite(point.value)) points.push_back(point);
  }
  return points;
}

void DrawBest(const History& history, const Frame& frame, Canvas& canvas) {
  const std::vector<double> best = BestSoFar(history);
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (std::isnan(best[i])) continue;
    const std::int64_t trial = history.points[i].trial;
    const bool is_last = i + 1 == best.size();
    const int from = frame.X(std::clamp(trial, frame.first, frame.last), canvas);
    const int to =
        is_last ? canvas.across() - 1
                : frame.X(std::clamp(history.points[i + 1].trial, frame.first, frame.last), canvas);
    const int y = frame.Y(best[i], canvas);
    for (int x = from; x <= to; ++x) canvas.Set(x, y, '-');
    if (is_last || std::isnan(best[i + 1])) continue;
    const int next = frame.Y(best[i + 1], canvas);
    for (int step = std::min(y, next) + 1; step < std::max(y, next); ++step) {
      canvas.Set(to, step, '|');
    }
  }
}

std::string Axis(const Frame& frame, int label_width, int columns, bool unicode) {
  const std::string left = fmt::format("{}", frame.first);
  const std::string right = fmt::format("{}", frame.last);
  std::string rule;
  for (int i = 0; i < columns; ++i) rule += unicode ? "─" : "-";
  const int middle = std::max(1, columns - static_cast<int>(left.size() + right.size()));
  return fmt::format("{:{}} {}{}\n{:{}}  {}{:^{}}{}",
                     "",
                     label_width,
                     unicode ? "└" : "+",
                     rule,
                     "",
                     label_width,
                     left,
                     "trial",
                     middle,
                     right);
}

std::string Title(const History& history) {
  return fmt::format("{} {} of {}: every trial, and the best so far",
                     history.goal == Goal::kMaximize ? "maximize" : "minimize",
                     history.metric,
                     history.study);
}

// The figure beside each line of the picture; most lines have none.
std::vector<std::string> TickLabels(const std::vector<double>& ticks,
                                    const Frame& frame,
                                    const Canvas& canvas,
                                    int height) {
  std::vector<std::string> labels(static_cast<std::size_t>(height));
  for (const double tick : ticks) {
    const int line = frame.Y(tick, canvas) * height / canvas.down();
    labels[static_cast<std::size_t>(line)] = FormatFigure(tick);
  }
  return labels;
}

int LabelWidth(const std::vector<double>& ticks) {
  int width = 0;
  for (const double tick : ticks) width = std::max(width, DisplayWidth(FormatFigure(tick)));
  return width;
}

std::vector<double> TicksFor(const std::vector<HistoryPoint>& points) {
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return NiceTicks(low->value, high->value, 5);
}

}  // namespace

std::vector<std::string> DrawHistory(const History& history, const PlotSize& size, bool unicode) {
  const std::vector<HistoryPoint> points = Drawable(history);
  if (points.empty()) return {fmt::format("study {}: no trial has a value yet", history.study)};
  const std::vector<double> ticks = TicksFor(points);
  const Frame frame = {.low = ticks.front(),
                       .high = ticks.back(),
                       .first = points.front().trial,
                       .last = points.back().trial};
  const int label_width = LabelWidth(ticks);
  const int columns = std::max(10, size.width - label_width - 2);
  Canvas canvas(columns, size.height, unicode);
  DrawBest(history, frame, canvas);
  for (const HistoryPoint& point : points) {
    canvas.Set(frame.X(point.trial, canvas), frame.Y(point.value, canvas), 'o');
  }
  std::vector<std::string> lines = {Truncate(Title(history), size.width)};
  for (const std::string& label : TickLabels(ticks, frame, canvas, size.height)) {
    const int line = static_cast<int>(lines.size()) - 1;
    std::string text = PadLeft(label, label_width) + " ";
    text += label.empty() ? (unicode ? "│" : "|") : (unicode ? "┤" : "+");
    text += canvas.Line(line);
    lines.push_back(text.erase(text.find_last_not_of(' ') + 1));
  }
  const std::string axis = Axis(frame, label_width, columns, unicode);
  lines.push_back(axis.substr(0, axis.find('\n')));
  lines.push_back(axis.substr(axis.find('\n') + 1));
  return lines;
}

}  // namespace vernier::cli
