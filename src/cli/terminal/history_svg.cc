#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/history.h"

namespace vernier::cli {
namespace {

constexpr double kWidth = 800;
constexpr double kHeight = 420;
constexpr double kLeft = 72;
constexpr double kRight = 24;
constexpr double kTop = 48;
constexpr double kBottom = 72;

struct Kind {
  std::string_view name;
  std::string_view color;
};

Kind KindOf(const HistoryPoint& point) {
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

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
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
      default:
        escaped += c;
    }
  }
  return escaped;
}

// The picture's scales: trials across, values up.
struct Scales {
  std::vector<double> values;  // Ticks; the first and last bound the picture.
  std::vector<double> trials;

  double X(double trial) const {
    const double share = (trial - trials.front()) / (trials.back() - trials.front());
    return kLeft + share * (kWidth - kLeft - kRight);
  }
  double Y(double value) const {
    const double share = (value - values.front()) / (values.back() - values.front());
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
};

Scales ScalesOf(const History& history) {
  double low = 0;
  double high = 1;
  bool any = false;
  for (const HistoryPoint& point : history.points) {
    if (!std::isfinite(point.value)) continue;
    low = any ? std::min(low, point.value) : point.value;
    high = any ? std::max(high, point.value) : point.value;
    any = true;
  }
  const std::int64_t last = history.points.empty() ? 1 : history.points.back().trial;
  return {.values = NiceTicks(low, high, 6),
          .trials = NiceTicks(0, static_cast<double>(std::max<std::int64_t>(last, 2)), 8)};
}

std::string Axes(const Scales& scales) {
  std::string svg;
  for (const double tick : scales.values) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft,
        kWidth - kRight,
        scales.Y(tick),
        kLeft - 8,
        scales.Y(tick) + 4,
        FormatFigure(tick));
  }
  for (const double tick : scales.trials) {
    if (tick != std::floor(tick)) continue;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" class=\"axis\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        scales.X(tick),
        kHeight - kBottom,
        kHeight - kBottom + 5,
        kHeight - kBottom + 20,
        FormatFigure(tick));
  }
  return svg + fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" class=\"axis\"/>\n",
                           kLeft,
                           kTop,
                           kHeight - kBottom,
                           kWidth - kRight);
}

std::string BestLine(const History& history, const Scales& scales) {
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

std::string Points(const History& history, const Scales& scales) {
  std::string svg;
  for (const HistoryPoint& point : history.points) {
    if (!std::isfinite(point.value)) continue;
    const Kind kind = KindOf(point);
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\">"
        "<title>trial {}: {} ({})</title></circle>\n",
        scales.X(static_cast<double>(point.trial)),
        scales.Y(point.value),
        kind.color,
        point.trial,
        FormatFigure(point.value),
        kind.name);
  }
  return svg;
}

std::string Legend(const History& history) {
  std::string svg;
  std::set<std::string_view> shown;
  double x = kLeft;
  const double y = kHeight - 16;
  for (const HistoryPoint& point : history.points) {
    const Kind kind = KindOf(point);
    if (!std::isfinite(point.value) || !shown.insert(kind.name).second) continue;
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x + 4,
        y - 4,
        kind.color,
        x + 14,
        y,
        kind.name);
    x += 32 + 7.5 * static_cast<double>(kind.name.size());
  }
  return svg +
         fmt::format(
             "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"best\"/>"
             "<text x=\"{3:.1f}\" y=\"{4:.1f}\">best so far</text>\n",
             x,
             x + 18,
             y - 4,
             x + 24,
             y);
}

constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".title{font-size:16px;font-weight:600}"
    ".grid{stroke:#e6e6e6}"
    ".axis{stroke:#555;fill:none}"
    ".best{stroke:#111;stroke-width:1.5;fill:none}";

}  // namespace

std::string HistorySvg(const History& history) {
  const Scales scales = ScalesOf(history);
  const std::string verb = history.goal == Goal::kMaximize ? "maximize" : "minimize";
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<style>{2}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{3}\" y=\"28\" class=\"title\">{4}: {5} {6}</text>\n",
      kWidth,
      kHeight,
      kStyle,
      kLeft,
      Escape(history.study),
      verb,
      Escape(history.metric));
  svg += Axes(scales);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">trial</text>\n",
                     (kLeft + kWidth - kRight) / 2,
                     kHeight - kBottom + 36);
  svg += BestLine(history, scales);
  svg += Points(history, scales);
  svg += Legend(history);
  return svg + "</svg>\n";
}

}  // namespace vernier::cli
