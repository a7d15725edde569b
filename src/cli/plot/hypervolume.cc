// A new trial adds what it dominates alone: its box, less the volume that the front dominates within it. Volumes are
// computed by slices along the last objective, which suffices for the few objectives that studies have.

#include "src/cli/plot/hypervolume.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"

namespace vernier::plot {
namespace {

// Costs: smaller is better in every coordinate.
using Cost = std::vector<double>;

double SignedCost(const Objective& objective, double value) {
  return objective.goal == Goal::kMaximize ? -value : value;
}

std::optional<Cost> CostOf(const StudyData& study, const PlotTrial& trial) {
  if (!trial.counts()) return std::nullopt;
  Cost cost;
  for (const Objective& objective : study.spec.objectives) {
    const auto value = trial.ValueOf(objective.metric);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    cost.push_back(SignedCost(objective, *value));
  }
  return cost;
}

bool IsAtLeastAsGood(const Cost& a, const Cost& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
}

void AddToFront(Cost cost, std::vector<Cost>& front) {
  for (const Cost& other : front) {
    if (IsAtLeastAsGood(other, cost)) return;
  }
  std::erase_if(front, [&cost](const Cost& other) { return IsAtLeastAsGood(cost, other); });
  front.push_back(std::move(cost));
}

// The volume between the points and the bound, in the first `dimensions` coordinates.
double Volume(std::vector<Cost> points, const Cost& bound, std::size_t dimensions) {
  const std::size_t last = dimensions - 1;
  std::sort(points.begin(), points.end(), [last](const Cost& a, const Cost& b) {
    return a[last] < b[last];
  });
  if (points.empty()) return 0;
  if (last == 0) return bound[0] - points.front()[0];
  double volume = 0;
  std::vector<Cost> slice;
  for (std::size_t i = 0; i < points.size(); ++i) {
    AddToFront(Cost(points[i].begin(), points[i].begin() + static_cast<std::ptrdiff_t>(last)),
               slice);
    const double end = i + 1 < points.size() ? points[i + 1][last] : bound[last];
    if (end > points[i][last]) volume += (end - points[i][last]) * Volume(slice, bound, last);
  }
  return volume;
}

// What `cost` dominates and the front does not.
double Gain(const Cost& cost, const std::vector<Cost>& front, const Cost& bound) {
  double box = 1;
  for (std::size_t i = 0; i < cost.size(); ++i) {
    if (cost[i] >= bound[i]) return 0;
    box *= bound[i] - cost[i];
  }
  std::vector<Cost> shared;
  for (Cost other : front) {
    if (IsAtLeastAsGood(other, cost)) return 0;
    for (std::size_t i = 0; i < cost.size(); ++i) other[i] = std::max(other[i], cost[i]);
    shared.push_back(std::move(other));
  }
  return box - Volume(std::move(shared), bound, bound.size());
}

std::string ReferenceText(const StudyData& study, const Reference& reference) {
  std::string text = "up to";
  for (const Objective& objective : study.spec.objectives) {
    text += fmt::format("{} {} {}",
                        text == "up to" ? "" : ",",
                        objective.metric,
                        cli::FormatFigure(reference.at(objective.metric)));
  }
  return text;
}

}  // namespace

Reference WorstValues(const StudyData& study) {
  Reference worst;
  for (const PlotTrial& trial : study.trials) {
    const std::optional<Cost> cost = CostOf(study, trial);
    if (!cost) continue;
    for (const Objective& objective : study.spec.objectives) {
      const double value = *trial.ValueOf(objective.metric);
      const auto [at, is_new] = worst.try_emplace(objective.metric, value);
      if (!is_new && IsBetter(objective.goal, at->second, value)) at->second = value;
    }
  }
  return worst;
}

std::vector<HypervolumeStep> Hypervolumes(const StudyData& study, const Reference& reference) {
  Cost bound;
  for (const Objective& objective : study.spec.objectives) {
    const auto at = reference.find(objective.metric);
    if (at == reference.end()) return {};
    bound.push_back(SignedCost(objective, at->second));
  }
  std::vector<HypervolumeStep> steps;
  std::vector<Cost> front;
  double volume = 0;
  for (const PlotTrial& trial : study.trials) {
    std::optional<Cost> cost = CostOf(study, trial);
    if (!cost) continue;
    const double gain = Gain(*cost, front, bound);
    // A trial beyond the reference in one objective dominates no volume.
    if (gain > 0) AddToFront(*std::move(cost), front);
    volume += gain;
    steps.push_back({.trial = trial.number(), .volume = volume});
  }
  return steps;
}

Figure HypervolumeFigure(const StudyData& study, const Reference& reference) {
  Figure figure = {.title = fmt::format("{}: hypervolume", study.name())};
  const std::vector<HypervolumeStep> steps = Hypervolumes(study, reference);
  if (steps.empty()) {
    figure.empty = fmt::format(
        "study {}: no trial has completed with finite values of all objectives", study.name());
    return figure;
  }
  const auto first = static_cast<double>(steps.front().trial);
  const auto last = static_cast<double>(steps.back().trial);
  Panel panel = {.x = {.scale = AxisScale::Whole(first, last).Padded(last > first ? 0.015 : 0),
                       .label = "trial"},
                 .y = {.scale = AxisScale::Linear(0, steps.back().volume).Padded(0.03),
                       .label = "hypervolume"}};
  Line line = {.paint = {.ink = Ink::kText}, .width = 2, .title = "hypervolume"};
  for (const HypervolumeStep& step : steps) {
    const auto x = static_cast<double>(step.trial);
    if (!line.points.empty()) line.points.push_back({x, line.points.back().y});
    line.points.push_back({x, step.volume});
  }
  panel.marks.emplace_back(std::move(line));
  for (const HypervolumeStep& step : steps) {
    panel.marks.emplace_back(
        Dot{.at = {static_cast<double>(step.trial), step.volume},
            .paint = {.ink = Ink::kBlue},
            .size = 3,
            .title = fmt::format("trial {}: {}", step.trial, cli::FormatFigure(step.volume))});
  }
  figure.subtitle = ReferenceText(study, reference);
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace vernier::plot
