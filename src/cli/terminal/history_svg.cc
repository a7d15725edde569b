#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/history.h"
#include "src/cli/terminal/svg.h"

namespace vernier::cli {
namespace {

struct Kind {
  std::string_view name;
  std::string_view color;
  bool hollow = false;
};

Kind KindOf(const HistoryPoint& point) {
  if (point.breaks_constraint) return {"breaks a constraint", "#888888", /*hollow=*/true};
  if (point.stopped_early) return {"stopped early", "#d98c00"};
  switch (point.state) {
    case TrialState::kCompleted:
      return {"completed", "#2a6fbb"};
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return {"failed", "#c0392b"};
    case TrialState::kCancelled:
      return {"cancelled", "#888888"};
    default:
      return {"running", "#3a9d5d"};
  }
}

// The ticks that are numbers of trials; with the ends of the picture, which bound it.
std::vector<double> WholeTicks(std::int64_t last) {
  const std::vector<double> ticks =
      NiceTicks(0, static_cast<double>(std::max<std::int64_t>(last, 2)), 8);
  std::vector<double> whole;
  for (const double tick : ticks) {
    if (tick == std::floor(tick)) whole.push_back(tick);
  }
  return whole;
}

SvgScales ScalesOf(const History& history) {
  std::vector<double> values;
  for (const HistoryPoint& point : history.points) {
    if (std::isfinite(point.value)) values.push_back(point.value);
  }
  if (values.empty()) values = {0, 1};
  const std::int64_t last = history.points.empty() ? 1 : history.points.back().trial;
  return {.across = WholeTicks(last), .up = NiceTicks(values, 6)};
}

std::string BestLine(const History& history, const SvgScales& scales) {
  const std::vector<double> best = BestSoFar(history);
  std::string path;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (std::isnan(best[i])) continue;
    const double x = scales.X(static_cast<double>(history.points[i].trial));
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x, scales.Y(best[i]))
                         : fmt::format("H{:.1f}V{:.1f}", x, scales.Y(best[i]));
  }
  return path.empty() ? "" : fmt::format("<path d=\"{}\" class=\"best\"/>\n", path);
}

std::string Points(const History& history, const SvgScales& scales) {
  std::string svg;
  for (const HistoryPoint& point : history.points) {
    if (!std::isfinite(point.value)) continue;
    const Kind kind = KindOf(point);
    svg += SvgCircle(
        {.x = scales.X(static_cast<double>(point.trial)),
         .y = scales.Y(point.value),
         .color = kind.color,
         .hollow = kind.hollow},
        fmt::format("trial {}: {} ({})", point.trial, FormatFigure(point.value), kind.name));
  }
  return svg;
}

std::string Legend(const History& history) {
  SvgLegend legend;
  std::set<std::string_view> shown;
  for (const HistoryPoint& point : history.points) {
    const Kind kind = KindOf(point);
    if (!std::isfinite(point.value) || !shown.insert(kind.name).second) continue;
    legend.AddDot(kind.color, kind.hollow, kind.name);
  }
  legend.AddLine("best so far");
  return legend.text();
}

}  // namespace

std::string HistorySvg(const History& history) {
  const SvgScales scales = ScalesOf(history);
  const std::string verb = history.goal == Goal::kMaximize ? "maximize" : "minimize";
  std::string svg = SvgBegin(fmt::format("{}: {} {}", history.study, verb, history.metric));
  svg += SvgAxes(scales, "trial", "");
  svg += BestLine(history, scales);
  svg += Points(history, scales);
  svg += Legend(history);
  return svg + "</svg>\n";
}

}  // namespace vernier::cli
