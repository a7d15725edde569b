#include "src/cli/terminal/pareto.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/svg.h"
#include "src/cli/terminal/text.h"
#include "src/core/pareto.h"

namespace vernier::cli {
namespace {

// How the trials of one kind are shown.
struct Kind {
  std::string_view name;
  std::string_view mark;
  char ascii;
  std::string_view color;
  double radius;
  bool hollow;
};
constexpr Kind kBreaking = {"breaks a constraint", "○", '!', "#888888", 4, true};
constexpr Kind kDominated = {"dominated", "•", 'o', "#9dbfe3", 4, false};
constexpr Kind kOptimal = {"optimal", "●", '*', "#2a6fbb", 6, false};
// What is drawn later lies over what is drawn before.
constexpr std::array<const Kind*, 3> kKinds = {&kBreaking, &kDominated, &kOptimal};

const Kind& KindOf(const ParetoPoint& point) {
  if (point.breaks_constraint) return kBreaking;
  return point.optimal ? kOptimal : kDominated;
}

bool IsShown(const ParetoPicture& picture, const Kind& kind) {
  return std::any_of(picture.points.begin(), picture.points.end(), [&kind](const auto& point) {
    return &KindOf(point) == &kind;
  });
}

std::string_view Verb(const Objective& objective) {
  return objective.goal == Goal::kMaximize ? "maximize" : "minimize";
}

double Signed(const Objective& objective, double value) {
  return objective.goal == Goal::kMaximize ? value : -value;
}

double Worse(const Objective& objective, double a, double b) {
  return IsBetter(objective.goal, a, b) ? b : a;
}

// Of the trials that count, those that none dominates in these two objectives, from the left to the right.
std::vector<Corner> Front(const ParetoPicture& picture) {
  std::vector<Corner> places;
  std::vector<std::vector<double>> values;
  for (const ParetoPoint& point : picture.points) {
    if (point.breaks_constraint) continue;
    places.push_back({point.x, point.y});
    values.push_back({Signed(picture.x, point.x), Signed(picture.y, point.y)});
  }
  const std::vector<bool> dominated = Dominated(values);
  std::vector<Corner> front;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!dominated[i]) front.push_back(places[i]);
  }
  std::sort(front.begin(), front.end(), [](const Corner& a, const Corner& b) { return a.x < b.x; });
  return front;
}

struct Ticks {
  std::vector<double> x;
  std::vector<double> y;
};

// REQUIRES: at least one point.
Ticks TicksOf(const ParetoPicture& picture, int across, int up) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const ParetoPoint& point : picture.points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  return {.x = NiceTicks(xs, across), .y = NiceTicks(ys, up)};
}

void DrawStaircase(const ParetoPicture& picture, const Ticks& ticks, Canvas& canvas) {
  const std::vector<Corner> corners = Staircase(picture);
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const int from_x = canvas.X(ShareOf(corners[i - 1].x, ticks.x));
    const int from_y = canvas.Y(ShareOf(corners[i - 1].y, ticks.y));
    const int to_x = canvas.X(ShareOf(corners[i].x, ticks.x));
    const int to_y = canvas.Y(ShareOf(corners[i].y, ticks.y));
    canvas.DrawDown(from_x, from_y, to_y);
    canvas.DrawAcross(from_x, to_x, to_y);
  }
}

std::string TextLegend(const ParetoPicture& picture, bool unicode) {
  std::string legend;
  for (const Kind* kind : kKinds) {
    if (!IsShown(picture, *kind)) continue;
    const std::string mark = unicode ? std::string(kind->mark) : std::string(1, kind->ascii);
    legend += fmt::format("{}{} {}", legend.empty() ? "" : "   ", mark, kind->name);
  }
  return legend;
}

std::string NothingToDraw(const ParetoPicture& picture) {
  return fmt::format("study {}: no trial has completed with finite values of {} and {}",
                     picture.study,
                     picture.x.metric,
                     picture.y.metric);
}

}  // namespace

std::string AxisName(const Objective& objective) {
  return fmt::format("{} ({})", objective.metric, Verb(objective));
}

std::vector<Corner> Staircase(const ParetoPicture& picture) {
  std::vector<Corner> corners;
  for (const Corner& place : Front(picture)) {
    if (!corners.empty()) {
      const Corner& before = corners.back();
      corners.push_back({Worse(picture.x, before.x, place.x), Worse(picture.y, before.y, place.y)});
    }
    corners.push_back(place);
  }
  return corners;
}

std::vector<std::string> DrawPareto(const ParetoPicture& picture,
                                    const PlotSize& size,
                                    bool unicode) {
  if (picture.points.empty()) return {NothingToDraw(picture)};
  const Ticks ticks = TicksOf(picture, 5, 5);
  Canvas canvas(std::max(10, size.width - LabelWidth(ticks.y) - 2), size.height, unicode);
  DrawStaircase(picture, ticks, canvas);
  for (const Kind* kind : kKinds) {
    for (const ParetoPoint& point : picture.points) {
      if (&KindOf(point) != kind) continue;
      canvas.Mark(canvas.X(ShareOf(point.x, ticks.x)),
                  canvas.Y(ShareOf(point.y, ticks.y)),
                  kind->mark,
                  kind->ascii);
    }
  }
  std::vector<std::string> lines = WithAxes(canvas,
                                            ticks.y,
                                            {.left = FormatFigure(ticks.x.front()),
                                             .middle = AxisName(picture.x),
                                             .right = FormatFigure(ticks.x.back())},
                                            unicode);
  lines.insert(lines.begin(), Truncate(AxisName(picture.y), size.width));
  lines.push_back(Truncate(TextLegend(picture, unicode), size.width));
  return lines;
}

std::string ParetoSvg(const ParetoPicture& picture) {
  const Ticks ticks =
      picture.points.empty() ? Ticks{.x = {0, 1}, .y = {0, 1}} : TicksOf(picture, 8, 6);
  const SvgScales scales = {.across = ticks.x, .up = ticks.y};
  std::string svg = SvgBegin(fmt::format("{}: {} {}, {} {}",
                                         picture.study,
                                         Verb(picture.x),
                                         picture.x.metric,
                                         Verb(picture.y),
                                         picture.y.metric));
  svg += SvgAxes(scales, AxisName(picture.x), AxisName(picture.y));
  std::string path;
  for (const Corner& corner : Staircase(picture)) {
    path += fmt::format(
        "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", scales.X(corner.x), scales.Y(corner.y));
  }
  if (!path.empty()) svg += fmt::format("<path d=\"{}\" class=\"best\"/>\n", path);
  SvgLegend legend;
  for (const Kind* kind : kKinds) {
    if (IsShown(picture, *kind)) legend.AddDot(kind->color, kind->hollow, kind->name);
    for (const ParetoPoint& point : picture.points) {
      if (&KindOf(point) != kind) continue;
      svg += SvgCircle({.x = scales.X(point.x),
                        .y = scales.Y(point.y),
                        .radius = kind->radius,
                        .color = kind->color,
                        .hollow = kind->hollow},
                       fmt::format("trial {}: {} {}, {} {} ({})",
                                   point.trial,
                                   picture.x.metric,
                                   FormatFigure(point.x),
                                   picture.y.metric,
                                   FormatFigure(point.y),
                                   kind->name));
    }
  }
  return svg + legend.text() + "</svg>\n";
}

}  // namespace vernier::cli
