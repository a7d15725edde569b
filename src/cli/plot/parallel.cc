#include "src/cli/plot/parallel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// Lines through the same value of a list are spread over this share of its column.
constexpr double kLineSpread = 0.3;

struct Drawn {
  const PlotTrial* trial = nullptr;
  double value = 0;
};

// Trials with a finite value, worst first, so that better ones are drawn over them.
std::vector<Drawn> WorstFirst(const StudyData& study, const Objective& objective) {
  std::vector<Drawn> drawn;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (value && std::isfinite(*value)) drawn.push_back({.trial = &trial, .value = *value});
  }
  std::stable_sort(drawn.begin(), drawn.end(), [&objective](const Drawn& a, const Drawn& b) {
    return IsBetter(objective.goal, b.value, a.value);
  });
  return drawn;
}

// Where the trial's line crosses the parameter's axis; NaN if the parameter is inactive.
double Crossing(const Parameter& parameter, const AxisScale& scale, const Trial& trial) {
  const auto value = trial.point.find(parameter.name);
  if (value == trial.point.end()) return kNothing;
  double place = PlaceOf(parameter, value->second);
  if (scale.is_category()) place += kLineSpread * Jitter(trial.number.value());
  return scale.Share(place);
}

// Whether a value has gaps on both sides, so that no line shows it; it is drawn as a dot.
bool StandsAlone(const std::vector<At>& points, std::size_t i) {
  const bool before = i > 0 && !std::isnan(points[i - 1].y);
  const bool after = i + 1 < points.size() && !std::isnan(points[i + 1].y);
  return !std::isnan(points[i].y) && !before && !after;
}

}  // namespace

absl::StatusOr<Figure> ParallelFigure(const StudyData& study,
                                      const Objective& objective,
                                      std::size_t most,
                                      AxisMode mode) {
  Figure figure = {
      .title = fmt::format("{}: parameters and {} of each trial", study.name(), objective.metric)};
  std::vector<Drawn> drawn = WorstFirst(study, objective);
  if (drawn.empty()) {
    figure.empty = fmt::format("study {}: no trial has a value yet", study.name());
    return figure;
  }
  std::vector<double> values;
  values.reserve(drawn.size());
  for (const Drawn& each : drawn) values.push_back(each.value);
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis, ValueAxis::Create(values, objective, mode));
  const std::size_t all = drawn.size();
  // They are sorted, worst first.
  if (most > 0 && all > most) {
    drawn.erase(drawn.begin(), drawn.end() - static_cast<std::ptrdiff_t>(most));
    figure.subtitle = fmt::format("the best {} of {} trials with a value", most, all);
  } else {
    figure.subtitle = fmt::format("{} trial{} with a value", all, all == 1 ? "" : "s");
  }
  const std::vector<Parameter>& parameters = study.spec.space.parameters();
  Panel panel = {.x = {.scale = AxisScale::Linear(
                           0, static_cast<double>(std::max<std::size_t>(1, parameters.size()))),
                       .visible = false},
                 .y = {.scale = AxisScale::Linear(0, 1), .visible = false}};
  bool has_gaps = false;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    // A parameter with a condition may be inactive in some trials.
    has_gaps = has_gaps || !parameters[k].when.empty();
    panel.rulers.push_back({.x = static_cast<double>(k),
                            .scale = ScaleOf(parameters[k]),
                            .label = parameters[k].name});
  }
  panel.rulers.push_back({.x = static_cast<double>(parameters.size()),
                          .scale = axis.scale(),
                          .label = objective.metric});
  // Few lines are nearly opaque, many fade, but never vanish. The factors are choices.
  const double opacity = std::clamp(std::sqrt(60.0 / static_cast<double>(drawn.size())), 0.25, 0.9);
  for (const Drawn& each : drawn) {
    const Trial& trial = each.trial->trial;
    // The last one, as better trials are drawn over worse ones.
    const bool is_best = &each == &drawn.back();
    Line line = {.points = {},
                 .paint = {.ink = Ink::kRamp, .level = axis.LevelOf(each.value)},
                 .width = is_best ? 2.6 : 1.3,
                 .opacity = is_best ? 1 : opacity,
                 .title = TrialTitle(*each.trial, objective.metric)};
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      line.points.push_back(
          {static_cast<double>(k), Crossing(parameters[k], panel.rulers[k].scale, trial)});
    }
    line.points.push_back(
        {static_cast<double>(parameters.size()), axis.scale().Share(axis.Place(each.value))});
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      if (!StandsAlone(line.points, i)) continue;
      panel.marks.emplace_back(
          Dot{.at = line.points[i], .paint = line.paint, .size = 2.5, .title = line.title});
    }
    panel.marks.emplace_back(std::move(line));
  }
  figure.bar = ColorBar{.scale = axis.LevelScale(), .label = objective.metric};
  if (has_gaps) figure.notes.emplace_back("a line has a gap where the parameter is not active");
  figure.panels.push_back(std::move(panel));
  figure.panel_height = 320;
  return figure;
}

}  // namespace vernier::plot
