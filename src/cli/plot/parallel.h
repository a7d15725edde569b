#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// Parallel coordinates: a vertical axis for each parameter and for the objective, and a line for each trial with a
// value, coloured by the objective, the best on top. A line has a gap where a parameter is inactive. `most`: draw only
// that many of the best trials; 0: all.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> ParallelFigure(const StudyData& study,
                                      const Objective& objective,
                                      std::size_t most = 0,
                                      AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
