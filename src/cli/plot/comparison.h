#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

// Figures with a line for each of several studies of the same objective.
namespace vernier::plot {

// The best value so far, by the number of the trial.
// REQUIRES: studies is not empty.  InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> CompareFigure(std::span<const StudyData> studies,
                                     const Objective& objective,
                                     AxisMode mode = AxisMode::kAuto);

// Finite values of the trials that count, ascending.
std::vector<double> CountedValues(const StudyData& study, const Objective& objective);

// The share of trials with at most each value: the empirical distribution function.
// REQUIRES: studies is not empty.  InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> DistributionFigure(std::span<const StudyData> studies,
                                          const Objective& objective,
                                          AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
