#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// The best value of the objective up to each trial; NaN before the first one that counts.
std::vector<double> BestSoFar(const StudyData& study, const Objective& objective);

// The same as a step line; empty if no trial counts.
Line BestLine(const StudyData& study, const Objective& objective, const ValueAxis& axis);

// A sentence about the values that the axis leaves out; empty if there are none.
std::string OutlierNote(const std::vector<double>& values,
                        const Objective& objective,
                        const ValueAxis& axis);

// Every trial's objective by number, and the best so far as a line. Trials without a value are drawn at the bad end of
// the axis, and so are outliers, which a note counts.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> HistoryFigure(const StudyData& study,
                                     const Objective& objective,
                                     AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
