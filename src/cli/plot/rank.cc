#include "src/cli/plot/rank.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/cli/terminal/figures.h"

namespace vernier::plot {
namespace {

Dot RankDot(const RankedTrial& each,
            const Objective& objective,
            double worst,
            const Parameter& x,
            const Parameter& y) {
  const Trial& trial = each.trial->trial;
  At at = {PlaceOf(x, trial.point.at(x.name)), PlaceOf(y, trial.point.at(y.name))};
  if (ScaleOf(x).is_category()) at.x += kSpread * Jitter(each.trial->number());
  if (ScaleOf(y).is_category()) at.y += kSpread * Jitter(each.trial->number());
  return {
      .at = at,
      .paint = {.ink = Ink::kRamp, .level = (worst - each.rank) / (worst - 1)},
      .title = fmt::format(
          "{}, rank {}", TrialTitle(*each.trial, objective.metric), cli::FormatFigure(each.rank))};
}

}  // namespace

std::vector<RankedTrial> Ranks(const StudyData& study, const Objective& objective, int x, int y) {
  std::vector<RankedTrial> ranked;
  std::vector<double> costs;
  const double sign = objective.goal == Goal::kMaximize ? -1 : 1;
  const auto cost = [&](const PlotTrial& trial) { return sign * *trial.ValueOf(objective.metric); };
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    const Point& point = trial.trial.point;
    if (!trial.counts() || !value || !std::isfinite(*value)) continue;
    if (!point.contains(ParameterAt(study, x).name) ||
        !point.contains(ParameterAt(study, y).name)) {
      continue;
    }
    ranked.push_back({.trial = &trial});
    costs.push_back(cost(trial));
  }
  std::sort(costs.begin(), costs.end());
  for (RankedTrial& each : ranked) {
    const auto [first, last] = std::equal_range(costs.begin(), costs.end(), cost(*each.trial));
    // The mean of the places that equal values take, from 1.
    each.rank = static_cast<double>((first - costs.begin()) + 1 + (last - costs.begin())) / 2;
  }
  return ranked;
}

Figure RankFigure(const StudyData& study, const Objective& objective, int x, int y) {
  const Parameter& across = ParameterAt(study, x);
  const Parameter& up = ParameterAt(study, y);
  Figure figure = {
      .title = fmt::format(
          "{}: rank of {} over {} and {}", study.name(), objective.metric, across.name, up.name)};
  std::vector<RankedTrial> ranked = Ranks(study, objective, x, y);
  if (ranked.empty()) {
    figure.empty = fmt::format(
        "study {}: no trial with a value has both {} and {}", study.name(), across.name, up.name);
    return figure;
  }
  // The best last, on top of the others.
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedTrial& a, const RankedTrial& b) {
    return a.rank > b.rank;
  });
  const double worst = std::max<double>(2, static_cast<double>(ranked.size()));
  Panel panel = {.x = {.scale = ScaleOf(across), .label = across.name},
                 .y = {.scale = ScaleOf(up), .label = up.name}};
  for (const RankedTrial& each : ranked) {
    panel.marks.emplace_back(RankDot(each, objective, worst, across, up));
  }
  Dot& best = std::get<Dot>(panel.marks.back());
  best.shape = Shape::kStar;
  best.size = 6.5;
  figure.legend.push_back({.text = "best trial", .paint = best.paint, .shape = Shape::kStar});
  figure.subtitle = fmt::format(
      "{} trial{}; {}", ranked.size(), ranked.size() == 1 ? "" : "s", Subscription(objective));
  figure.bar =
      ColorBar{.scale = AxisScale::Whole(worst, 1), .label = "rank of " + objective.metric};
  figure.panels.push_back(std::move(panel));
  figure.panel_height = 420;
  figure.panel_lines = 20;
  return figure;
}

}  // namespace vernier::plot
