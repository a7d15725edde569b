#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// The best value of the objective up to each trial; NaN before the first finite one that counts.
std::vector<double> BestSoFar(const StudyData& study, const Objective& objective);

// Every trial's objective in the order of their numbers, and the best so far as a line. Trials without a value stand at the
// bad end, outliers beyond the axis too, with a count.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> HistoryFigure(const StudyData& study,
                                     const Objective& objective,
                                     AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
