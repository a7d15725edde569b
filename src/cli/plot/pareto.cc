// Optimal trials are those of the study, by all of its objectives; the line is computed for the two objectives drawn.
// With more than two, optimal trials may therefore lie behind the line.

#include "src/cli/plot/pareto.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/core/pareto.h"

namespace vernier::plot {
namespace {

std::string AxisName(const Objective& objective) {
  return fmt::format(
      "{} ({})", objective.metric, objective.goal == Goal::kMaximize ? "maximize" : "minimize");
}

double Signed(const Objective& objective, double value) {
  return objective.goal == Goal::kMaximize ? value : -value;
}

double Worse(const Objective& objective, double a, double b) {
  return IsBetter(objective.goal, a, b) ? b : a;
}

// Kinds of trials in drawing order.
enum class Kind { kBreaking, kDominated, kOptimal };

Kind KindOf(const ParetoPoint& point) {
  if (point.trial->fate == Fate::kBreaking) return Kind::kBreaking;
  return point.trial->optimal ? Kind::kOptimal : Kind::kDominated;
}

LegendEntry EntryOfKind(Kind kind) {
  switch (kind) {
    case Kind::kBreaking:
      return {.text = "breaks a constraint", .paint = {.ink = Ink::kMuted}, .shape = Shape::kRing};
    case Kind::kDominated:
      return {.text = "dominated", .paint = {.ink = Ink::kSky}, .shape = Shape::kDisc};
    case Kind::kOptimal:
      break;
  }
  return {.text = "optimal", .paint = {.ink = Ink::kBlue}, .shape = Shape::kStar};
}

}  // namespace

std::vector<ParetoPoint> ParetoPoints(const StudyData& study,
                                      const Objective& x,
                                      const Objective& y) {
  std::vector<ParetoPoint> points;
  for (const PlotTrial& trial : study.trials) {
    if (trial.trial.state != TrialState::kCompleted) continue;
    const auto across = trial.ValueOf(x.metric);
    const auto up = trial.ValueOf(y.metric);
    if (!across || !up || !std::isfinite(*across) || !std::isfinite(*up)) continue;
    points.push_back({.trial = &trial, .at = {*across, *up}});
  }
  return points;
}

std::vector<At> Staircase(const std::vector<ParetoPoint>& points,
                          const Objective& x,
                          const Objective& y) {
  std::vector<At> places;
  std::vector<std::vector<double>> values;
  for (const ParetoPoint& point : points) {
    // It can be better in every objective, and still not count.
    if (KindOf(point) == Kind::kBreaking) continue;
    places.push_back(point.at);
    values.push_back({Signed(x, point.at.x), Signed(y, point.at.y)});
  }
  // In two dimensions only, for the objectives drawn; Dominated maximizes, hence Signed.
  const std::vector<bool> dominated = Dominated(values);
  std::vector<At> front;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!dominated[i]) front.push_back(places[i]);
  }
  // Along the front, x and y change in opposite directions, so that the order by x is that along the line.
  std::sort(front.begin(), front.end(), [](const At& a, const At& b) { return a.x < b.x; });
  std::vector<At> corners;
  for (const At& place : front) {
    if (!corners.empty()) {
      const At before = corners.back();
      // The corner that both neighbours dominate: the worse of each coordinate.
      corners.push_back({Worse(x, before.x, place.x), Worse(y, before.y, place.y)});
    }
    corners.push_back(place);
  }
  return corners;
}

Figure ParetoFigure(const StudyData& study, const Objective& x, const Objective& y) {
  Figure figure = {.title =
                       fmt::format("{}: {}, {}", study.name(), Subscription(x), Subscription(y))};
  const std::vector<ParetoPoint> points = ParetoPoints(study, x, y);
  if (points.empty()) {
    figure.empty = fmt::format("study {}: no trial has completed with finite values of {} and {}",
                               study.name(),
                               x.metric,
                               y.metric);
    return figure;
  }
  At low = points.front().at;
  At high = low;
  for (const ParetoPoint& point : points) {
    low = {std::min(low.x, point.at.x), std::min(low.y, point.at.y)};
    high = {std::max(high.x, point.at.x), std::max(high.y, point.at.y)};
  }
  // Padded, as the best trials are at the borders.
  Panel panel = {
      .x = {.scale = AxisScale::Linear(low.x, high.x).Padded(0.04), .label = AxisName(x)},
      .y = {.scale = AxisScale::Linear(low.y, high.y).Padded(0.06), .label = AxisName(y)}};
  panel.marks.emplace_back(Line{.points = Staircase(points, x, y),
                                .paint = {.ink = Ink::kText},
                                .title = "what no trial dominates"});
  // Optimal trials last, on top of the others.
  for (const Kind kind : {Kind::kBreaking, Kind::kDominated, Kind::kOptimal}) {
    const LegendEntry entry = EntryOfKind(kind);
    std::size_t count = 0;
    for (const ParetoPoint& point : points) {
      if (KindOf(point) != kind) continue;
      ++count;
      panel.marks.emplace_back(Dot{.at = point.at,
                                   .shape = *entry.shape,
                                   .paint = entry.paint,
                                   .size = kind == Kind::kOptimal ? 5.0 : 3.5,
                                   .title = fmt::format("trial {}: {} {}, {} {} ({})",
                                                        point.trial->number(),
                                                        x.metric,
                                                        cli::FormatFigure(point.at.x),
                                                        y.metric,
                                                        cli::FormatFigure(point.at.y),
                                                        entry.text)});
    }
    if (count > 0) figure.legend.push_back(entry);
    if (kind == Kind::kOptimal) {
      figure.subtitle = fmt::format(
          "{} of {} completed trials {} optimal", count, points.size(), count == 1 ? "is" : "are");
    }
  }
  std::string others;
  for (const Objective& objective : study.spec.objectives) {
    if (objective == x || objective == y) continue;
    others += (others.empty() ? "" : ", ") + objective.metric;
  }
  if (!others.empty()) {
    figure.notes.push_back(fmt::format("not shown: {}; --x and --y choose two objectives", others));
  }
  figure.panels = {panel};
  figure.panel_height = 340;
  return figure;
}

}  // namespace vernier::plot
