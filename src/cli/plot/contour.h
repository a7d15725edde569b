#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// The model's mean over two parameters; all others as in the best trial that has both.
struct Surface {
  int x = 0;
  int y = 0;
  std::optional<TrialNumber> at;  // That trial; nothing if no trial has both.
  std::vector<ParameterValue> across;
  std::vector<ParameterValue> up;
  // means[j * across.size() + i]; NaN where the point is not valid.
  std::vector<double> means;
};

// For the parameters with these indices. Errors are the model's.
absl::StatusOr<Surface> ComputeSurface(
    const StudyData& study, const Objective& objective, int x, int y, const Model& model);

// The mean as colours, and trials that have both parameters as dots.
Figure ContourFigure(const StudyData& study,
                     const Objective& objective,
                     const Surface& surface,
                     const std::string& model_name);

}  // namespace vernier::plot
