#include "src/cli/plot/contour.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/cli/plot/value_axis.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// Grid points along each parameter. A choice: 1024 predictions, and levels are interpolated between.
constexpr int kGridSteps = 32;

// The best trial in which both parameters are active.
const PlotTrial* BestWithBoth(const StudyData& study, const Objective& objective, int x, int y) {
  const std::string& across = ParameterAt(study, x).name;
  const std::string& up = ParameterAt(study, y).name;
  const PlotTrial* best = nullptr;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (!trial.counts() || !value || !std::isfinite(*value)) continue;
    // Without one of the parameters a trial has no place in the figure.
    if (!trial.trial.point.contains(across) || !trial.trial.point.contains(up)) continue;
    if (best == nullptr || IsBetter(objective.goal, *value, *best->ValueOf(objective.metric))) {
      best = &trial;
    }
  }
  return best;
}

Field FieldOf(const StudyData& study, const Surface& surface, const ValueAxis& axis) {
  const Parameter& x = ParameterAt(study, surface.x);
  const Parameter& y = ParameterAt(study, surface.y);
  // Between categories there is nothing to interpolate.
  Field field = {.blocks = ScaleOf(x).is_category() || ScaleOf(y).is_category()};
  for (const ParameterValue& value : surface.across) field.x.push_back(PlaceOf(x, value));
  for (const ParameterValue& value : surface.up) field.y.push_back(PlaceOf(y, value));
  for (const double mean : surface.means) {
    field.values.push_back(std::isnan(mean) ? kNothing : axis.LevelOf(mean));
  }
  return field;
}

}  // namespace

absl::StatusOr<Surface> ComputeSurface(
    const StudyData& study, const Objective& objective, int x, int y, const Model& model) {
  Surface surface = {.x = x, .y = y};
  const PlotTrial* at = BestWithBoth(study, objective, x, y);
  if (at == nullptr) return surface;
  surface.at = at->trial.number;
  surface.across = Spread(ParameterAt(study, x), kGridSteps);
  surface.up = Spread(ParameterAt(study, y), kGridSteps);
  std::vector<Point> points;
  std::vector<std::size_t> cells;
  for (const ParameterValue& up : surface.up) {
    const auto row = Moved(study, objective, at->trial.point, y, up);
    for (const ParameterValue& across : surface.across) {
      const std::size_t cell = surface.means.size();
      surface.means.push_back(kNothing);
      // y is changed first, then x. The point between may violate a constraint that the final point satisfies, so it is
      // not checked alone.
      Point from = row.value_or(at->trial.point);
      from[ParameterAt(study, y).name] = up;
      auto point = Moved(study, objective, from, x, across);
      // x may switch y off.
      if (!point || !point->contains(ParameterAt(study, y).name)) continue;
      cells.push_back(cell);
      points.push_back(*std::move(point));
    }
  }
  if (points.empty()) return surface;
  // All points in one call: a prediction is a round trip to the server.
  VERNIER_ASSIGN_OR_RETURN(const std::vector<PredictedValue> predicted, model.predict(points));
  for (std::size_t i = 0; i < cells.size(); ++i) surface.means[cells[i]] = predicted[i].mean;
  return surface;
}

Figure ContourFigure(const StudyData& study,
                     const Objective& objective,
                     const Surface& surface,
                     const std::string& model_name) {
  const Parameter& x = ParameterAt(study, surface.x);
  const Parameter& y = ParameterAt(study, surface.y);
  Figure figure = {
      .title = fmt::format(
          "{}: expected {} over {} and {}", study.name(), objective.metric, x.name, y.name)};
  const auto axis = ValueAxis::Create(surface.means, objective, AxisMode::kAuto);
  const bool is_known = std::any_of(
      surface.means.begin(), surface.means.end(), [](double mean) { return std::isfinite(mean); });
  if (!is_known || !axis.ok()) {
    figure.empty = fmt::format(
        "study {}: no trial with a value has both {} and {}", study.name(), x.name, y.name);
    return figure;
  }
  Panel panel = {.x = {.scale = ScaleOf(x), .label = x.name},
                 .y = {.scale = ScaleOf(y), .label = y.name}};
  panel.marks.emplace_back(FieldOf(study, surface, *axis));
  const PlotTrial* best = study.Best(objective);
  std::vector<Fate> shown;
  bool has_star = false;
  const auto add = [&](const PlotTrial& trial) {
    const auto across = trial.trial.point.find(x.name);
    const auto up = trial.trial.point.find(y.name);
    if (across == trial.trial.point.end() || up == trial.trial.point.end()) return;
    const bool is_best = &trial == best;
    if (is_best) {
      has_star = true;
    } else {
      shown.push_back(trial.fate);
    }
    At at = {PlaceOf(x, across->second), PlaceOf(y, up->second)};
    if (panel.x.scale.is_category()) at.x += kSpread * Jitter(trial.number());
    if (panel.y.scale.is_category()) at.y += kSpread * Jitter(trial.number());
    // Trials are in the text's colour, as the field below them has all the others.
    panel.marks.emplace_back(
        Dot{.at = at,
            .shape = is_best ? Shape::kStar : ShapeOf(trial.fate),
            .paint = is_best ? Paint{.ink = Ink::kRed} : Paint{.ink = Ink::kText},
            .size = is_best ? 6.5 : 3.2,
            .title = TrialTitle(trial, objective.metric)});
  };
  for (const PlotTrial& trial : study.trials) {
    if (&trial != best) add(trial);
  }
  if (best != nullptr) add(*best);
  for (LegendEntry& entry : figure.legend = FateLegend(shown)) entry.paint = {.ink = Ink::kText};
  if (has_star) {
    figure.legend.push_back(
        {.text = "best trial", .paint = {.ink = Ink::kRed}, .shape = Shape::kStar});
  }
  // With two parameters there are no others.
  figure.subtitle =
      study.spec.space.parameters().size() > 2
          ? fmt::format("{}; the other parameters as in trial {}", model_name, surface.at->value())
          : model_name;
  figure.bar = ColorBar{.scale = axis->LevelScale(), .label = "expected " + objective.metric};
  figure.panels.push_back(std::move(panel));
  figure.panel_height = 420;
  figure.panel_lines = 20;
  return figure;
}

}  // namespace vernier::plot
