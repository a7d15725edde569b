// The history answers whether the search still improves: the step line of the best value is drawn over single trials.
// Trials without a value are drawn at the bad end rather than left out, since failures are part of the history.

#include "src/cli/plot/history.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

bool IsDrawn(const std::optional<double>& value) { return value && std::isfinite(*value); }

Shape OutlierShape(const Objective& objective) {
  return objective.goal == Goal::kMinimize ? Shape::kUp : Shape::kDown;
}

Dot DotOf(const PlotTrial& trial, const Objective& objective, const ValueAxis& axis) {
  const std::optional<double> value = trial.ValueOf(objective.metric);
  // At the bad end unless it has a value that can be drawn.
  Dot dot = {.at = {static_cast<double>(trial.number()), axis.bad_end()},
             .shape = ShapeOf(trial.fate),
             .paint = PaintOf(trial.fate),
             .size = 3.5,
             .title = TrialTitle(trial, objective.metric)};
  if (!IsDrawn(value)) return dot;
  dot.at.y = axis.Place(*value);
  // A triangle that points to where the value lies.
  if (axis.IsOutlier(*value)) {
    dot.shape = OutlierShape(objective);
  }
  return dot;
}

// "best 0.97 in trial 12; 20 trials".
std::string Summary(const StudyData& study, const Objective& objective) {
  const PlotTrial* best = study.Best(objective);
  std::string text = best == nullptr
                         ? "no trial counts for the best yet"
                         : fmt::format("best {} in trial {}",
                                       cli::FormatFigure(*best->ValueOf(objective.metric)),
                                       best->number());
  return text +
         fmt::format("; {} trial{}", study.trials.size(), study.trials.size() == 1 ? "" : "s");
}

}  // namespace

std::vector<double> BestSoFar(const StudyData& study, const Objective& objective) {
  std::vector<double> bests;
  double best = kNothing;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (trial.counts() && IsDrawn(value) &&
        (std::isnan(best) || IsBetter(objective.goal, *value, best))) {
      best = *value;
    }
    bests.push_back(best);
  }
  return bests;
}

Line BestLine(const StudyData& study, const Objective& objective, const ValueAxis& axis) {
  Line line = {.points = {}, .paint = {.ink = Ink::kText}, .width = 2, .title = "best so far"};
  const std::vector<double> best = BestSoFar(study, objective);
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (std::isnan(best[i])) continue;
    const auto x = static_cast<double>(study.trials[i].number());
    const double y = axis.Place(best[i]);
    // A step: first to the right, then to the new value.
    if (!line.points.empty() && line.points.back().y != y) {
      line.points.push_back({x, line.points.back().y});
    }
    line.points.push_back({x, y});
  }
  return line;
}

std::string OutlierNote(const std::vector<double>& values,
                        const Objective& objective,
                        const ValueAxis& axis) {
  int count = 0;
  double worst = 0;
  for (const double value : values) {
    if (!axis.IsOutlier(value)) continue;
    if (++count == 1 || IsBetter(objective.goal, worst, value)) worst = value;
  }
  if (count == 0) return "";
  return fmt::format("{} outlier{} beyond the axis {} marked at its border; the worst {} is {}",
                     count,
                     count == 1 ? "" : "s",
                     count == 1 ? "is" : "are",
                     objective.metric,
                     cli::FormatFigure(worst));
}

absl::StatusOr<Figure> HistoryFigure(const StudyData& study,
                                     const Objective& objective,
                                     AxisMode mode) {
  Figure figure = {.title = fmt::format("{}: {}", study.name(), Subscription(objective)),
                   .subtitle = Summary(study, objective)};
  std::vector<double> values;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (IsDrawn(value)) values.push_back(*value);
  }
  if (values.empty()) {
    figure.empty = fmt::format("study {}: no trial has a value yet", study.name());
    return figure;
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis, ValueAxis::Create(values, objective, mode));
  const auto first = static_cast<double>(study.trials.front().number());
  const auto last = static_cast<double>(study.trials.back().number());
  Panel panel = {.x = {.scale = AxisScale::Whole(first, last).Padded(last > first ? 0.015 : 0),
                       .label = "trial"},
                 .y = {.scale = axis.scale(), .label = axis.label()}};
  panel.marks.emplace_back(BestLine(study, objective, axis));
  std::vector<Fate> shown;
  int without_value = 0;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    // It may still get a value.
    if (!IsDrawn(value) && trial.fate == Fate::kOpen) continue;
    if (!IsDrawn(value)) ++without_value;
    shown.push_back(trial.fate);
    panel.marks.emplace_back(DotOf(trial, objective, axis));
  }
  const PlotTrial* best = study.Best(objective);
  // On top of its own dot, so drawn last.
  if (best != nullptr) {
    Dot star = DotOf(*best, objective, axis);
    star.shape = Shape::kStar;
    star.paint = {.ink = Ink::kText};
    star.size = 5.5;
    star.title = "best: " + star.title;
    panel.marks.emplace_back(star);
  }
  figure.panels = {panel};
  figure.legend = FateLegend(shown);
  if (best != nullptr) {
    figure.legend.push_back({.text = "best so far", .paint = {.ink = Ink::kText}});
    figure.legend.push_back({.text = "best", .paint = {.ink = Ink::kText}, .shape = Shape::kStar});
  }
  if (std::string note = OutlierNote(values, objective, axis); !note.empty()) {
    figure.legend.push_back(
        {.text = "outlier", .paint = {.ink = Ink::kBlue}, .shape = OutlierShape(objective)});
    figure.notes.push_back(std::move(note));
  }
  if (without_value > 0) {
    figure.notes.push_back(
        fmt::format("{} ended without a value and stand{} at the bad end of the axis",
                    without_value == 1 ? "1 trial" : fmt::format("{} trials", without_value),
                    without_value == 1 ? "s" : ""));
  }
  return figure;
}

}  // namespace vernier::plot
