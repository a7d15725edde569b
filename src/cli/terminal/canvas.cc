#include "src/cli/terminal/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

constexpr int kBrailleAcross = 2;
constexpr int kBrailleDown = 4;

std::string Rule(int columns, bool unicode) {
  std::string rule;
  for (int i = 0; i < columns; ++i) rule += unicode ? "─" : "-";
  return rule;
}

}  // namespace

std::vector<double> NiceTicks(double low, double high, int count) {
  if (!(high > low)) {
    // One value: give it room on both sides, relative to its size.
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= room;
    high += room;
  }
  const double raw = (high - low) / std::max(1, count - 1);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  std::vector<double> ticks;
  for (int i = 0; first + i <= last; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> NiceTicks(const std::vector<double>& values, int count) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return NiceTicks(*low, *high, count);
}

double ShareOf(double value, const std::vector<double>& ticks) {
  return std::clamp((value - ticks.front()) / (ticks.back() - ticks.front()), 0.0, 1.0);
}

Canvas::Canvas(int columns, int lines, bool unicode)
    : unicode_(unicode),
      columns_(columns),
      lines_(lines),
      across_(unicode ? columns * kBrailleAcross : columns),
      down_(unicode ? lines * kBrailleDown : lines),
      dots_(static_cast<std::size_t>(across_) * static_cast<std::size_t>(down_), ' '),
      marks_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(lines)) {}

int Canvas::X(double share) const { return static_cast<int>(std::lround(share * (across_ - 1))); }
int Canvas::Y(double share) const {
  return static_cast<int>(std::lround((1 - share) * (down_ - 1)));
}

std::size_t Canvas::IndexOf(int x, int y) const {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(across_) +
         static_cast<std::size_t>(x);
}

void Canvas::Set(int x, int y, char mark) {
  char& dot = dots_[IndexOf(x, y)];
  if (dot != 'o') dot = mark;
}

void Canvas::DrawAcross(int from, int to, int y) {
  for (int x = std::min(from, to); x <= std::max(from, to); ++x) Set(x, y, '-');
}

void Canvas::DrawDown(int x, int from, int to) {
  for (int y = std::min(from, to) + 1; y < std::max(from, to); ++y) Set(x, y, '|');
}

void Canvas::Mark(int x, int y, std::string_view unicode, char ascii) {
  const int column = x * columns_ / across_;
  const int line = y * lines_ / down_;
  marks_[static_cast<std::size_t>(line) * static_cast<std::size_t>(columns_) +
         static_cast<std::size_t>(column)] =
      unicode_ ? std::string(unicode) : std::string(1, ascii);
}

std::string Canvas::Line(int line) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) {
    const std::string& mark =
        marks_[static_cast<std::size_t>(line) * static_cast<std::size_t>(columns_) +
               static_cast<std::size_t>(column)];
    if (!mark.empty()) {
      text += mark;
    } else if (unicode_) {
      text += Braille(column, line);
    } else {
      text += dots_[IndexOf(column, line)];
    }
  }
  return text;
}

std::string Canvas::Braille(int column, int line) const {
  // Unicode's order of the eight dots: down the left side, down the right, then the lowest pair.
  constexpr std::array<std::array<unsigned, kBrailleAcross>, kBrailleDown> kBits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  unsigned bits = 0;
  for (int y = 0; y < kBrailleDown; ++y) {
    for (int x = 0; x < kBrailleAcross; ++x) {
      const char dot = dots_[IndexOf(column * kBrailleAcross + x, line * kBrailleDown + y)];
      if (dot != ' ') bits |= kBits[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
    }
  }
  if (bits == 0) return " ";
  return {static_cast<char>(0xE2),
          static_cast<char>(0xA0 | (bits >> 6U)),
          static_cast<char>(0x80 | (bits & 0x3FU))};
}

int LabelWidth(const std::vector<double>& ticks) {
  int width = 0;
  for (const double tick : ticks) width = std::max(width, DisplayWidth(FormatFigure(tick)));
  return width;
}

std::vector<std::string> WithAxes(const Canvas& canvas,
                                  const std::vector<double>& ticks,
                                  const AxisWords& words,
                                  bool unicode) {
  const int label_width = LabelWidth(ticks);
  // The figure beside each line; most lines have none.
  std::vector<std::string> labels(static_cast<std::size_t>(canvas.lines()));
  for (const double tick : ticks) {
    labels[static_cast<std::size_t>(canvas.LineOf(ShareOf(tick, ticks)))] = FormatFigure(tick);
  }
  std::vector<std::string> lines;
  for (const std::string& label : labels) {
    std::string text = PadLeft(label, label_width) + " ";
    text += label.empty() ? (unicode ? "│" : "|") : (unicode ? "┤" : "+");
    text += canvas.Line(static_cast<int>(lines.size()));
    lines.push_back(text.erase(text.find_last_not_of(' ') + 1));
  }
  const std::string margin(static_cast<std::size_t>(label_width) + 1, ' ');
  lines.push_back(margin + (unicode ? "└" : "+") + Rule(canvas.columns(), unicode));
  const int ends = DisplayWidth(words.left) + DisplayWidth(words.right);
  const int room = std::max(1, canvas.columns() - ends);
  lines.push_back(fmt::format(
      "{} {}{:^{}}{}", margin, words.left, Truncate(words.middle, room), room, words.right));
  return lines;
}

}  // namespace vernier::cli
