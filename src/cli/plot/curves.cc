#include "src/cli/plot/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// Most points of one curve, and of all: more than a figure shows, and the size of the SVG file is bounded.
constexpr std::size_t kMostPoints = 400;
constexpr std::size_t kMostPointsInAll = 30000;
// Up to this many curves are nearly opaque; more of them fade.
constexpr double kStrong = 12;

// Twice the area of the triangle; only the order of areas counts.
double Area(const At& a, const At& b, const At& c) {
  return std::abs((a.x - c.x) * (b.y - a.y) - (a.x - b.x) * (c.y - a.y));
}

At Mean(const std::vector<At>& points, std::size_t from, std::size_t to) {
  At mean;
  for (std::size_t i = from; i < to; ++i) {
    mean.x += points[i].x;
    mean.y += points[i].y;
  }
  const auto count = static_cast<double>(to - from);
  return {mean.x / count, mean.y / count};
}

// A curve prepared for drawing.
struct DrawnCurve {
  const PlotTrial* trial = nullptr;
  bool is_best = false;
  std::vector<At> points;
};

std::vector<DrawnCurve> Prepare(const StudyData& study,
                                const PlotTrial* best,
                                const std::vector<Curve>& curves) {
  const std::size_t share = kMostPointsInAll / std::max<std::size_t>(1, curves.size());
  // A curve needs some points to have a shape, even if there are many curves.
  const std::size_t count = std::clamp<std::size_t>(share, 12, kMostPoints);
  std::vector<DrawnCurve> drawn;
  for (const Curve& curve : curves) {
    const PlotTrial* trial = study.Find(curve.trial);
    std::vector<At> points = Thinned(curve.points, count);
    // A trial that was deleted between two calls has a curve and no trial.
    if (trial == nullptr || points.empty()) continue;
    drawn.push_back({.trial = trial, .is_best = trial == best, .points = std::move(points)});
  }
  // Drawing order: the best on top, and completed trials over others.
  const auto rank = [](const DrawnCurve& curve) {
    if (curve.is_best) return 2;
    return curve.trial->fate == Fate::kCompleted ? 1 : 0;
  };
  std::stable_sort(drawn.begin(), drawn.end(), [&rank](const DrawnCurve& a, const DrawnCurve& b) {
    return rank(a) < rank(b);
  });
  return drawn;
}

void AddCurve(const DrawnCurve& curve,
              const Objective& metric,
              const ValueAxis& axis,
              double opacity,
              Panel& panel) {
  const PlotTrial& trial = *curve.trial;
  Line line = {.points = {},
               .paint = curve.is_best ? Paint{.ink = Ink::kText} : PaintOf(trial.fate),
               .width = curve.is_best ? 2.4 : 1.2,
               .opacity = curve.is_best ? 1 : opacity,
               .title = TrialTitle(trial, metric.metric)};
  for (const At& point : curve.points) {
    // Outliers keep their value, so that the line leaves the panel and is clipped at its border.
    line.points.push_back({point.x, axis.IsOutlier(point.y) ? point.y : axis.Place(point.y)});
  }
  const At end = line.points.back();
  panel.marks.emplace_back(line);
  const bool is_alone = curve.points.size() == 1;
  // Ordinary ends need no mark; a curve of one point would be invisible without.
  if (!curve.is_best && trial.fate == Fate::kCompleted && !is_alone) return;
  panel.marks.emplace_back(Dot{.at = end,
                               .shape = curve.is_best ? Shape::kStar : ShapeOf(trial.fate),
                               .paint = line.paint,
                               .size = curve.is_best ? 5.5 : 3.5,
                               .title = line.title});
}

std::vector<LegendEntry> CurveLegend(const std::vector<DrawnCurve>& curves) {
  std::vector<Fate> ends;
  bool has_completed = false;
  bool has_best = false;
  for (const DrawnCurve& curve : curves) {
    has_best = has_best || curve.is_best;
    if (curve.is_best) continue;
    if (curve.trial->fate == Fate::kCompleted) {
      has_completed = true;
    } else {
      ends.push_back(curve.trial->fate);
    }
  }
  std::vector<LegendEntry> legend;
  if (has_completed) {
    legend.push_back({.text = "completed", .paint = PaintOf(Fate::kCompleted)});
  }
  for (LegendEntry& entry : FateLegend(ends)) legend.push_back(std::move(entry));
  if (has_best) legend.push_back({.text = "best trial", .paint = {.ink = Ink::kText}});
  return legend;
}

}  // namespace

std::vector<At> Thinned(const std::vector<At>& points, std::size_t count) {
  std::vector<At> finite;
  for (const At& point : points) {
    if (std::isfinite(point.x) && std::isfinite(point.y)) finite.push_back(point);
  }
  if (finite.size() <= count) return finite;
  std::vector<At> kept = {finite.front()};
  // Between the ends, buckets of equal size. From each the point is kept that spans the largest triangle with the point
  // kept before and the mean of the next bucket.
  const std::size_t buckets = count - 2;
  const std::size_t inner = finite.size() - 2;
  const auto begin_of = [&](std::size_t bucket) { return 1 + bucket * inner / buckets; };
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::size_t from = begin_of(bucket);
    const std::size_t to = begin_of(bucket + 1);
    const At next = bucket + 1 < buckets ? Mean(finite, to, begin_of(bucket + 2)) : finite.back();
    std::size_t best = from;
    // -1: the first point wins even if all areas are 0.
    double largest = -1;
    for (std::size_t i = from; i < to; ++i) {
      const double area = Area(kept.back(), finite[i], next);
      if (area > largest) {
        largest = area;
        best = i;
      }
    }
    kept.push_back(finite[best]);
  }
  kept.push_back(finite.back());
  return kept;
}

absl::StatusOr<Figure> CurvesFigure(const StudyData& study,
                                    const Objective& metric,
                                    const PlotTrial* best,
                                    const std::vector<Curve>& curves,
                                    AxisMode mode) {
  Figure figure = {.title = fmt::format("{}: {} step by step", study.name(), metric.metric)};
  const std::vector<DrawnCurve> drawn = Prepare(study, best, curves);
  if (drawn.empty()) {
    figure.empty =
        fmt::format("study {}: no trial has reported {} yet", study.name(), metric.metric);
    return figure;
  }
  std::vector<double> values;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  for (const DrawnCurve& curve : drawn) {
    for (const At& point : curve.points) {
      values.push_back(point.y);
      first = std::min(first, point.x);
      last = std::max(last, point.x);
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis, ValueAxis::Create(values, metric, mode));
  Panel panel = {.x = {.scale = AxisScale::Whole(first, last).Padded(last > first ? 0.01 : 0),
                       .label = "step"},
                 .y = {.scale = axis.scale(), .label = axis.label()}};
  // The more curves, the fainter each, but none vanishes.
  const double opacity =
      std::clamp(std::sqrt(kStrong / static_cast<double>(drawn.size())), 0.15, 0.85);
  for (const DrawnCurve& curve : drawn) AddCurve(curve, metric, axis, opacity, panel);
  figure.subtitle = fmt::format("{} of {} trials", drawn.size(), study.trials.size());
  // Drawing order puts it last.
  if (drawn.back().is_best) {
    figure.subtitle += fmt::format("; best: trial {}", drawn.back().trial->number());
  }
  const auto cut = std::count_if(
      values.begin(), values.end(), [&axis](double value) { return axis.IsOutlier(value); });
  if (cut > 0) {
    figure.notes.push_back(fmt::format(
        "{} of {} values lie beyond the axis; `--axis full` shows them", cut, values.size()));
  }
  figure.legend = CurveLegend(drawn);
  figure.panels = {panel};
  figure.panel_height = 320;
  return figure;
}

}  // namespace vernier::plot
