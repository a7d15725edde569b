#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// The best value of the objective up to each trial; NaN before the first one that counts.
std::vector<double> BestSoFar(const StudyData& study, const Objective& objective);

// Every trial's objective by number, and the best so far as a line. Trials without a value are drawn at the bad end of
// the axis, and so are outliers, which a note counts.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> HistoryFigure(const StudyData& study,
                                     const Objective& objective,
                                     AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
