#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"
#include "src/cli/terminal/history.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

// Where values and trials lie on the canvas.
struct Frame {
  std::vector<double> ticks;  // Of the values.
  std::int64_t first = 1;
  std::int64_t last = 1;

  int X(std::int64_t trial, const Canvas& canvas) const {
    if (last == first) return canvas.across() / 2;
    const auto from_first = static_cast<double>(std::clamp(trial, first, last) - first);
    return canvas.X(from_first / static_cast<double>(last - first));
  }
  int Y(double value, const Canvas& canvas) const { return canvas.Y(ShareOf(value, ticks)); }
};

std::vector<HistoryPoint> Drawable(const History& history) {
  std::vector<HistoryPoint> points;
  for (const HistoryPoint& point : history.points) {
    if (std::isfinite(point.value)) points.push_back(point);
  }
  return points;
}

Frame FrameOf(const std::vector<HistoryPoint>& points) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const HistoryPoint& point : points) values.push_back(point.value);
  return {
      .ticks = NiceTicks(values, 5), .first = points.front().trial, .last = points.back().trial};
}

void DrawBest(const History& history, const Frame& frame, Canvas& canvas) {
  const std::vector<double> best = BestSoFar(history);
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (std::isnan(best[i])) continue;
    const bool is_last = i + 1 == best.size();
    const int to = is_last ? canvas.across() - 1 : frame.X(history.points[i + 1].trial, canvas);
    const int y = frame.Y(best[i], canvas);
    canvas.DrawAcross(frame.X(history.points[i].trial, canvas), to, y);
    if (!is_last) canvas.DrawDown(to, y, frame.Y(best[i + 1], canvas));
  }
}

void DrawPoint(const HistoryPoint& point, const Frame& frame, Canvas& canvas) {
  const int x = frame.X(point.trial, canvas);
  const int y = frame.Y(point.value, canvas);
  if (point.breaks_constraint) {
    canvas.Mark(x, y, "○", '!');
  } else {
    canvas.Set(x, y, 'o');
  }
}

std::string Title(const History& history) {
  return fmt::format("{} {} of {}: every trial, and the best so far",
                     history.goal == Goal::kMaximize ? "maximize" : "minimize",
                     history.metric,
                     history.study);
}

}  // namespace

std::vector<std::string> DrawHistory(const History& history, const PlotSize& size, bool unicode) {
  const std::vector<HistoryPoint> points = Drawable(history);
  if (points.empty()) return {fmt::format("study {}: no trial has a value yet", history.study)};
  const Frame frame = FrameOf(points);
  Canvas canvas(std::max(10, size.width - LabelWidth(frame.ticks) - 2), size.height, unicode);
  DrawBest(history, frame, canvas);
  for (const HistoryPoint& point : points) DrawPoint(point, frame, canvas);
  std::vector<std::string> lines = WithAxes(
      canvas,
      frame.ticks,
      {.left = std::to_string(frame.first), .middle = "trial", .right = std::to_string(frame.last)},
      unicode);
  lines.insert(lines.begin(), Truncate(Title(history), size.width));
  return lines;
}

}  // namespace vernier::cli
