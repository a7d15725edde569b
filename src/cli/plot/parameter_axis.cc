// Shared by figures that vary parameters. Changing one value can switch conditional parameters on and off, so a moved
// point is rebuilt from parents to children.

#include "src/cli/plot/parameter_axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "vernier/core/unit_cube.h"

namespace vernier::plot {
namespace {

constexpr double kPadding = 0.03;

template <typename Range>
AxisScale RangeScale(const Range& range) {
  const auto low = static_cast<double>(range.lower);
  const auto high = static_cast<double>(range.upper);
  if (range.scale == Scale::kLog && low > 0) return AxisScale::Log(low, high).Padded(kPadding);
  if (range.scale == Scale::kReverseLog && low > 0) {
    return AxisScale::ReverseLog(low, high).Padded(kPadding);
  }
  const bool is_whole = std::is_same_v<Range, IntDomain>;
  return (is_whole ? AxisScale::Whole(low, high) : AxisScale::Linear(low, high)).Padded(kPadding);
}

// The value for a parameter that becomes active.
ParameterValue FreshValue(const StudyData& study, const Objective& objective, int parameter) {
  const Parameter& definition = ParameterAt(study, parameter);
  if (const PlotTrial* donor = BestWith(study, objective, parameter); donor != nullptr) {
    return donor->trial.point.at(definition.name);
  }
  return definition.default_value ? *definition.default_value : FromUnit(definition, 0.5);
}

}  // namespace

const Parameter& ParameterAt(const StudyData& study, int index) {
  return study.spec.space.parameters()[static_cast<std::size_t>(index)];
}

AxisScale ScaleOf(const Parameter& parameter) {
  if (const auto* domain = std::get_if<FloatDomain>(&parameter.domain)) return RangeScale(*domain);
  if (const auto* domain = std::get_if<IntDomain>(&parameter.domain)) return RangeScale(*domain);
  std::vector<std::string> labels;
  const std::int64_t count = ValueCount(parameter).value_or(0);
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(FormatValue(ValueAt(parameter, i)));
  return AxisScale::Category(labels);
}

double PlaceOf(const Parameter& parameter, const ParameterValue& value) {
  if (std::holds_alternative<FloatDomain>(parameter.domain)) return std::get<double>(value);
  if (std::holds_alternative<IntDomain>(parameter.domain)) {
    return static_cast<double>(std::get<std::int64_t>(value));
  }
  return static_cast<double>(IndexOf(parameter, value));
}

std::vector<ParameterValue> Spread(const Parameter& parameter, int count) {
  std::vector<ParameterValue> values;
  const std::optional<std::int64_t> all = ValueCount(parameter);
  if (all && *all <= count) {
    for (std::int64_t i = 0; i < *all; ++i) values.push_back(ValueAt(parameter, i));
    return values;
  }
  for (int i = 0; i < count; ++i) {
    const ParameterValue value = FromUnit(parameter, static_cast<double>(i) / (count - 1));
    // Rounding may yield the same value twice.
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

double Jitter(std::int64_t trial) {
  // Multiples of the golden ratio modulo 1: any consecutive ones are well spread, and a trial has the same offset in
  // every figure.
  const double golden = 0.6180339887498949 * static_cast<double>(trial);
  return golden - std::floor(golden) - 0.5;
}

const PlotTrial* BestWith(const StudyData& study, const Objective& objective, int parameter) {
  const std::string& name = ParameterAt(study, parameter).name;
  const PlotTrial* best = nullptr;
  double best_value = 0;
  for (const PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (!trial.counts() || !value || !std::isfinite(*value)) continue;
    if (!trial.trial.point.contains(name)) continue;
    if (best != nullptr && !IsBetter(objective.goal, *value, best_value)) continue;
    best = &trial;
    best_value = *value;
  }
  return best;
}

std::optional<Point> Moved(const StudyData& study,
                           const Objective& objective,
                           const Point& from,
                           int parameter,
                           const ParameterValue& value) {
  const Space& space = study.spec.space;
  Point point;
  for (const int index : space.parents_first()) {
    if (!space.IsActive(index, point)) continue;
    const std::string& name = space.parameters()[static_cast<std::size_t>(index)].name;
    const auto before = from.find(name);
    if (index == parameter) {
      point[name] = value;
    } else {
      point[name] = before != from.end() ? before->second : FreshValue(study, objective, index);
    }
  }
  if (!space.Check(point).ok()) return std::nullopt;
  return point;
}

}  // namespace vernier::plot
