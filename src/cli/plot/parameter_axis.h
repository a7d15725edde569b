#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/cli/plot/scale.h"
#include "src/cli/plot/study_data.h"
#include "vernier/core/space.h"

namespace vernier::plot {

// REQUIRES: `index` is that of a parameter.
const Parameter& ParameterAt(const StudyData& study, int index);

// An axis for the parameter, in its own scale; a list has one column for each value.
AxisScale ScaleOf(const Parameter& parameter);
// The position of a valid value on that axis.
double PlaceOf(const Parameter& parameter, const ParameterValue& value);
// At most `count` valid values, evenly spread over the axis, ascending.
std::vector<ParameterValue> Spread(const Parameter& parameter, int count);

// An offset between -0.5 and 0.5, evenly distributed over consecutive numbers, by which marks in a column are kept
// apart.
double Jitter(std::int64_t trial);
// Share of its column over which trials with the same value of a list are spread. A choice.
inline constexpr double kSpread = 0.5;

// The best trial in which the parameter is active; null if there is none.
const PlotTrial* BestWith(const StudyData& study, const Objective& objective, int parameter);

// The point with another value of one active parameter. Parameters that become active take their value in the best
// trial that has them, otherwise their default, otherwise the middle of their axis. Nothing if the result violates a
// constraint of the space.
std::optional<Point> Moved(const StudyData& study,
                           const Objective& objective,
                           const Point& from,
                           int parameter,
                           const ParameterValue& value);

}  // namespace vernier::plot
