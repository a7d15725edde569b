#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"
#include "src/cli/plot/value_axis.h"

namespace vernier::plot {

// One parameter against the objective: the model's prediction along its axis; all other parameters as in the best trial
// that has it.
struct Slice {
  int parameter = 0;
  std::optional<TrialNumber> at;  // That trial; nothing if no trial has the parameter.
  struct Step {
    ParameterValue value;
    PredictedValue predicted;
  };
  std::vector<Step> steps;  // Ascending; empty without a model.
};

// For the parameters with these indices. `model` may be null. Errors are the model's.
absl::StatusOr<std::vector<Slice>> ComputeSlices(const StudyData& study,
                                                 const Objective& objective,
                                                 const std::vector<int>& parameters,
                                                 const Model* model);

// A panel for each slice: every trial as a dot, the model's mean as a line with a band of two standard deviations.
// InvalidArgument: as ValueAxis::Create.
absl::StatusOr<Figure> SliceFigure(const StudyData& study,
                                   const Objective& objective,
                                   const std::vector<Slice>& slices,
                                   const std::string& model_name,
                                   AxisMode mode = AxisMode::kAuto);

}  // namespace vernier::plot
