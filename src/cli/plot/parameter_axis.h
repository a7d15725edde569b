#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/cli/plot/scale.h"
#include "src/cli/plot/study_data.h"
#include "vernier/core/space.h"

namespace vernier::plot {

// An axis for the parameter: on its own scale; of lists one column for each value.
AxisScale ScaleOf(const Parameter& parameter);
// Where a legal value stands on it.
double PlaceOf(const Parameter& parameter, const ParameterValue& value);
// At most `count` legal values, spread evenly along the axis from end to end, ascending.
std::vector<ParameterValue> Spread(const Parameter& parameter, int count);

// Between -0.5 and 0.5, spread evenly over neighbouring numbers of trials, so that marks of one column do not hide each
// other.
double Jitter(std::int64_t trial);

// The best trial in which the parameter is active; null if there is none.
const PlotTrial* BestWith(const StudyData& study, const Objective& objective, int parameter);

// The point with another value of a parameter that is active in it. Parameters that become active take the value that the
// best trial with them has, else their default, else the middle of their axis. Nothing if the result breaks a constraint
// of the space.
std::optional<Point> Moved(const StudyData& study,
                           const Objective& objective,
                           const Point& from,
                           int parameter,
                           const ParameterValue& value);

}  // namespace vernier::plot
