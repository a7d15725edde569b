// Each line ends in, or passes through, a dot of its own shape, so that studies can be told apart without colours.

#include "src/cli/plot/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "fmt/format.h"
#include "src/cli/plot/history.h"
#include "src/cli/terminal/figures.h"
#include "src/core/status.h"

namespace vernier::plot {
namespace {

constexpr std::array kInks = {
    Ink::kBlue, Ink::kOrange, Ink::kGreen, Ink::kRed, Ink::kPurple, Ink::kSky};
constexpr std::array kShapes = {Shape::kDisc,
                                Shape::kDiamond,
                                Shape::kSquare,
                                Shape::kUp,
                                Shape::kDown,
                                Shape::kRing,
                                Shape::kPlus};

// The entry of the study with this index, which its line looks like.
LegendEntry EntryOf(std::span<const StudyData> studies, std::size_t index) {
  return {.text = studies[index].name(),
          .paint = {.ink = kInks[index % kInks.size()]},
          .shape = kShapes[index % kShapes.size()]};
}

Figure Titled(std::span<const StudyData> studies, const Objective& objective) {
  return {.title = fmt::format("{}: {}",
                               studies.size() == 1 ? studies.front().name()
                                                   : fmt::format("{} studies", studies.size()),
                               Subscription(objective))};
}

// What a study shows of its values, such as those that count.
using ValuesOf = std::vector<double> (*)(const StudyData& study, const Objective& objective);

// An axis for the finite values that all studies show. Without any, the figure says so.
absl::StatusOr<ValueAxis> AxisOf(std::span<const StudyData> studies,
                                 const Objective& objective,
                                 AxisMode mode,
                                 ValuesOf values_of,
                                 Figure& figure) {
  std::vector<double> values;
  for (const StudyData& study : studies) {
    for (const double value : values_of(study, objective)) {
      if (std::isfinite(value)) values.push_back(value);
    }
  }
  if (values.empty()) {
    figure.empty = fmt::format("{}: no trial has a value yet", figure.title);
    return ValueAxis::Create({0}, objective, AxisMode::kFull);
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis, ValueAxis::Create(values, objective, mode));
  return axis;
}

void AddLine(Line line, At dot, LegendEntry entry, Figure& figure) {
  line.paint = entry.paint;
  line.title = entry.text;
  figure.panels.front().marks.emplace_back(std::move(line));
  figure.panels.front().marks.emplace_back(
      Dot{.at = dot, .shape = *entry.shape, .paint = entry.paint, .title = entry.text});
  figure.legend.push_back(std::move(entry));
}

// Where the values are drawn, ascending: distances to the best fall as values to maximize rise.
std::vector<double> Places(std::vector<double> values, const ValueAxis& axis) {
  for (double& value : values) value = axis.Place(value);
  std::sort(values.begin(), values.end());
  return values;
}

// A step at each place, from 0 to 1.
Line Steps(const std::vector<double>& places, const ValueAxis& axis) {
  Line line = {.points = {{axis.scale().low(), 0}}, .width = 2};
  const auto count = static_cast<double>(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    line.points.push_back({places[i], static_cast<double>(i) / count});
    line.points.push_back({places[i], static_cast<double>(i + 1) / count});
  }
  line.points.push_back({axis.scale().high(), 1});
  return line;
}

}  // namespace

std::vector<double> CountedValues(const StudyData& study, const Objective& objective) {
  std::vector<double> values;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (trial.counts() && value && std::isfinite(*value)) values.push_back(*value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

absl::StatusOr<Figure> CompareFigure(std::span<const StudyData> studies,
                                     const Objective& objective,
                                     AxisMode mode) {
  Figure figure = Titled(studies, objective);
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis,
                           AxisOf(studies, objective, mode, &BestSoFar, figure));
  if (!figure.empty.empty()) return figure;
  figure.panels.push_back({.y = {.scale = axis.scale(), .label = axis.label()}});
  double last = 1;
  std::vector<double> beyond;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    for (const double best : BestSoFar(studies[i], objective)) {
      if (axis.IsOutlier(best)) beyond.push_back(best);
    }
    Line line = BestLine(studies[i], objective, axis);
    if (line.points.empty()) continue;
    const At end = line.points.back();
    last = std::max(last, end.x);
    AddLine(std::move(line), end, EntryOf(studies, i), figure);
  }
  figure.panels.front().x = {.scale = AxisScale::Whole(1, last).Padded(last > 1 ? 0.015 : 0),
                             .label = "trial"};
  figure.subtitle = "best so far";
  if (!beyond.empty()) {
    const auto [low, high] = std::minmax_element(beyond.begin(), beyond.end());
    figure.notes.push_back(
        fmt::format("lines begin beyond the axis, at its border: the worst {} is {}",
                    objective.metric,
                    cli::FormatFigure(objective.goal == Goal::kMinimize ? *high : *low)));
  }
  return figure;
}

absl::StatusOr<Figure> DistributionFigure(std::span<const StudyData> studies,
                                          const Objective& objective,
                                          AxisMode mode) {
  Figure figure = Titled(studies, objective);
  VERNIER_ASSIGN_OR_RETURN(const ValueAxis axis,
                           AxisOf(studies, objective, mode, &CountedValues, figure));
  if (!figure.empty.empty()) return figure;
  figure.panels.push_back(
      {.x = {.scale = axis.scale(), .label = axis.label()},
       .y = {.scale = AxisScale::Percent(0, 1).Padded(0.02), .label = "share of trials"}});
  std::vector<double> all;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const std::vector<double> values = CountedValues(studies[i], objective);
    if (values.empty()) continue;
    const std::vector<double> places = Places(values, axis);
    all.insert(all.end(), values.begin(), values.end());
    const At median = {places[(places.size() - 1) / 2], 0.5};
    AddLine(Steps(places, axis), median, EntryOf(studies, i), figure);
  }
  figure.subtitle = fmt::format(
      "distribution of {} trial{} with a value", all.size(), all.size() == 1 ? "" : "s");
  if (std::string note = OutlierNote(all, objective, axis); !note.empty()) {
    figure.notes.push_back(std::move(note));
  }
  return figure;
}

}  // namespace vernier::plot
