// A slice shows the effect of one parameter near the best trial, not on average: all others are fixed. Categories get
// columns instead of a curve, since there is nothing between them.

#include "src/cli/plot/slice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/cli/terminal/figures.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// Predictions along an axis. A choice: a smooth line at the width of a panel.
constexpr int kSliceSteps = 61;
// Half-width of the band in standard deviations.
constexpr double kBand = 2;
// Half-width of the column of one value of a list.
constexpr double kColumn = 0.32;

const Parameter& Definition(const StudyData& study, const Slice& slice) {
  return ParameterAt(study, slice.parameter);
}

// A curve with its band.
void AddBandedCurve(const Slice& slice,
                    const Parameter& parameter,
                    const ValueAxis& axis,
                    Panel& panel) {
  Line line = {.points = {}, .paint = {.ink = Ink::kText}, .width = 1.8, .title = "model's mean"};
  Band band = {.paint = {.ink = Ink::kSky}};
  for (const Slice::Step& step : slice.steps) {
    const double x = PlaceOf(parameter, step.value);
    const auto [mean, deviation] = step.predicted;
    line.points.push_back({x, axis.Place(mean)});
    band.x.push_back(x);
    band.low.push_back(axis.Place(mean - kBand * deviation));
    band.high.push_back(axis.Place(mean + kBand * deviation));
  }
  panel.marks.emplace_back(band);
  panel.marks.emplace_back(line);
}

// A box and a line for each value of a list.
void AddColumns(const Slice& slice,
                const Parameter& parameter,
                const ValueAxis& axis,
                Panel& panel) {
  for (const Slice::Step& step : slice.steps) {
    const double x = PlaceOf(parameter, step.value);
    const auto [mean, deviation] = step.predicted;
    panel.marks.emplace_back(Box{
        .from = {x - kColumn, axis.Place(mean - kBand * deviation)},
        .to = {x + kColumn, axis.Place(mean + kBand * deviation)},
        .paint = {.ink = Ink::kSky},
        .fill = Fill::kPale,
        .title =
            fmt::format("model: {} ± {}", cli::FormatFigure(mean), cli::FormatCompact(deviation))});
    panel.marks.emplace_back(
        Line{.points = {{x - kColumn, axis.Place(mean)}, {x + kColumn, axis.Place(mean)}},
             .paint = {.ink = Ink::kText},
             .width = 1.8});
  }
}

void AddTrials(const StudyData& study,
               const Objective& objective,
               const Parameter& parameter,
               const ValueAxis& axis,
               std::vector<Fate>& shown,
               Panel& panel) {
  // The best is drawn last, on top.
  const PlotTrial* best = study.Best(objective);
  const auto add = [&](const PlotTrial& trial) {
    const auto value = trial.ValueOf(objective.metric);
    const auto at = trial.trial.point.find(parameter.name);
    if (!value || !std::isfinite(*value) || at == trial.trial.point.end()) return;
    const bool is_best = &trial == best;
    double x = PlaceOf(parameter, at->second);
    if (panel.x.scale.is_category()) x += kColumn * 1.4 * Jitter(trial.number());
    shown.push_back(trial.fate);
    panel.marks.emplace_back(Dot{.at = {x, axis.Place(*value)},
                                 .shape = is_best ? Shape::kStar : ShapeOf(trial.fate),
                                 .paint = is_best ? Paint{.ink = Ink::kText} : PaintOf(trial.fate),
                                 .size = is_best ? 5.0 : 2.8,
                                 .title = fmt::format("{}, {}={}",
                                                      TrialTitle(trial, objective.metric),
                                                      parameter.name,
                                                      FormatValue(at->second))});
  };
  for (const PlotTrial& trial : study.trials) {
    if (&trial != best) add(trial);
  }
  if (best != nullptr) add(*best);
}

}  // namespace

absl::StatusOr<std::vector<Slice>> ComputeSlices(const StudyData& study,
                                                 const Objective& objective,
                                                 const std::vector<int>& parameters,
                                                 const Model* model) {
  std::vector<Slice> slices;
  std::vector<Point> points;
  for (const int parameter : parameters) {
    Slice slice = {.parameter = parameter};
    const PlotTrial* at = BestWith(study, objective, parameter);
    if (at != nullptr) slice.at = at->trial.number;
    if (at != nullptr && model != nullptr) {
      for (const ParameterValue& value : Spread(Definition(study, slice), kSliceSteps)) {
        auto point = Moved(study, objective, at->trial.point, parameter, value);
        // Not a valid point of the space: the curve has a gap there.
        if (!point) continue;
        slice.steps.push_back({.value = value, .predicted = {}});
        points.push_back(*std::move(point));
      }
    }
    slices.push_back(std::move(slice));
  }
  // All points in one call: a prediction is a round trip to the server.
  if (points.empty()) return slices;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<PredictedValue> predicted, model->predict(points));
  std::size_t next = 0;
  for (Slice& slice : slices) {
    for (Slice::Step& step : slice.steps) step.predicted = predicted[next++];
  }
  return slices;
}

absl::StatusOr<Figure> SliceFigure(const StudyData& study,
                                   const Objective& objective,
                                   const std::vector<Slice>& slices,
                                   const std::string& model_name,
                                   AxisMode mode) {
  Figure figure = {.title =
                       fmt::format("{}: {} along each parameter", study.name(), objective.metric)};
  std::vector<double> values;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  if (values.empty() || slices.empty()) {
    figure.empty = values.empty() ? fmt::format("study {}: no trial has a value yet", study.name())
                                  : fmt::format("study {}: there are no parameters", study.name());
    return figure;
  }
  bool has_model = false;
  for (const Slice& slice : slices) {
    for (const Slice::Step& step : slice.steps) {
      has_model = true;
      // Means only: the band may reach far beyond, and would squeeze the trials together.
      values.push_back(step.predicted.mean);
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis, ValueAxis::Create(values, objective, mode));
  std::vector<Fate> shown;
  for (const Slice& slice : slices) {
    const Parameter& parameter = Definition(study, slice);
    Panel panel = {
        .title = parameter.name, .x = {.scale = ScaleOf(parameter)}, .y = {.scale = axis.scale()}};
    if (panel.x.scale.is_category()) {
      AddColumns(slice, parameter, axis, panel);
    } else {
      AddBandedCurve(slice, parameter, axis, panel);
    }
    AddTrials(study, objective, parameter, axis, shown, panel);
    figure.panels.push_back(std::move(panel));
  }
  figure.columns = std::min<int>(3, static_cast<int>(slices.size()));
  // Panels are small, as there is one for each parameter.
  figure.panel_height = 170;
  figure.panel_lines = 9;
  figure.legend = FateLegend(shown);
  figure.legend.push_back(
      {.text = "best trial", .paint = {.ink = Ink::kText}, .shape = Shape::kStar});
  if (has_model) {
    figure.legend.push_back({.text = "model's mean", .paint = {.ink = Ink::kText}});
    figure.legend.push_back({.text = "± 2 standard deviations",
                             .paint = {.ink = Ink::kSky},
                             .is_box = true,
                             .fill = Fill::kPale});
    figure.subtitle = fmt::format(
        "{}; the other parameters as in the best trial that has the parameter", model_name);
  } else {
    figure.subtitle = "trials only: " + model_name;
  }
  return figure;
}

}  // namespace vernier::plot
