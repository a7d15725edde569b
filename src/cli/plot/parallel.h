#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// Parallel coordinates: an upright axis for each parameter and one for the objective, a line for each trial with a value,
// coloured by the objective, the best on top. Where a parameter is not active, the line has a gap. With `most`, only that
// many of the best trials; 0: all.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> ParallelFigure(const StudyData& study,
                                      const Objective& objective,
                                      std::size_t most = 0,
                                      AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
