#include "src/cli/plot/importance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "fmt/format.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

// A choice: bars of a figure that can still be read.
constexpr std::size_t kMostBars = 30;

Importance Ranked(const std::map<std::string, double>& amounts, std::string source) {
  Importance importance = {.shares = {}, .source = std::move(source)};
  double total = 0;
  for (const auto& [name, amount] : amounts) total += amount;
  // Also if the total is NaN.
  if (!(total > 0)) return importance;
  for (const auto& [name, amount] : amounts) importance.shares.emplace_back(name, amount / total);
  std::stable_sort(importance.shares.begin(),
                   importance.shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return importance;
}

// Two points that differ in one parameter.
struct Step {
  std::size_t parameter = 0;
  std::size_t from = 0;  // Indices into all requested points.
  std::size_t to = 0;
};

}  // namespace

Importance RecordedImportance(const StudyData& study) {
  for (auto trial = study.trials.rbegin(); trial != study.trials.rend(); ++trial) {
    const SuggestionRecord& suggestion = trial->trial.suggestion;
    if (suggestion.importance.empty()) continue;
    return Ranked(suggestion.importance,
                  fmt::format("from the model that proposed trial {} ({}): inverse length scales",
                              trial->number(),
                              suggestion.algorithm));
  }
  return {};
}

absl::StatusOr<Importance> ComputedImportance(const StudyData& study,
                                              const Objective& objective,
                                              const Model& model,
                                              const std::vector<Point>& points) {
  const std::vector<Parameter>& parameters = study.spec.space.parameters();
  std::vector<Point> asked = points;
  std::vector<Step> steps;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      // The new value is taken from another point, so that no further points need be drawn and values have the
      // distribution of the sample.
      const Point& other = points[(i + 1 + k) % points.size()];
      const auto value = other.find(parameters[k].name);
      if (value == other.end() || !points[i].contains(parameters[k].name)) continue;
      auto moved = Moved(study, objective, points[i], static_cast<int>(k), value->second);
      if (!moved) continue;
      steps.push_back({.parameter = k, .from = i, .to = asked.size()});
      asked.push_back(*std::move(moved));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<PredictedValue> predicted, model.predict(asked));
  std::map<std::string, double> amounts;
  for (const Parameter& parameter : parameters) amounts[parameter.name] = 0;
  for (const Step& step : steps) {
    const double change = predicted[step.from].mean - predicted[step.to].mean;
    // Jansen's estimator: half the mean squared change.
    if (std::isfinite(change)) amounts[parameters[step.parameter].name] += change * change / 2;
  }
  return Ranked(amounts,
                fmt::format("from predictions of {}: how far the mean moves when one parameter "
                            "alone is drawn anew",
                            model.name));
}

Figure ImportanceFigure(const StudyData& study,
                        const Objective& objective,
                        const Importance& importance) {
  Figure figure = {.title = fmt::format(
                       "{}: importance of the parameters for {}", study.name(), objective.metric),
                   .subtitle = importance.source};
  if (importance.shares.empty()) {
    figure.empty =
        fmt::format("study {}: no model says yet how much each parameter matters", study.name());
    return figure;
  }
  const std::size_t count = std::min(kMostBars, importance.shares.size());
  std::vector<std::string> names;
  // Categories are drawn from below, so that the most important one comes last.
  for (std::size_t i = count; i-- > 0;) names.push_back(importance.shares[i].first);
  const double widest = importance.shares.front().second;
  // The room beyond the longest bar is for its percentage.
  Panel panel = {.x = {.scale = AxisScale::Percent(0, widest * 1.15), .label = "importance"},
                 .y = {.scale = AxisScale::Category(names)}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [name, share] = importance.shares[i];
    const auto row = static_cast<double>(count - 1 - i);
    const std::string percent = fmt::format("{:.1f}%", 100 * share);
    panel.marks.emplace_back(Box{.from = {0, row - 0.32},
                                 .to = {share, row + 0.32},
                                 .paint = {.ink = Ink::kBlue},
                                 .title = fmt::format("{}: {}", name, percent)});
    panel.marks.emplace_back(Words{.at = {share + widest * 0.015, row}, .text = " " + percent});
  }
  if (count < importance.shares.size()) {
    figure.notes.push_back(
        fmt::format("the {} most important of {} parameters", count, importance.shares.size()));
  }
  figure.panels = {panel};
  figure.panel_height = std::max(60.0, 24.0 * static_cast<double>(count));
  figure.panel_lines = static_cast<int>(count);
  return figure;
}

}  // namespace vernier::plot
