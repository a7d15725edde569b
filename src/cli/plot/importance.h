#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// Importance of each parameter: shares that sum to 1, largest first, and a description of their source.
struct Importance {
  std::vector<std::pair<std::string, double>> shares;
  std::string source;
};

// The importance that the model recorded with its latest suggestion; without shares if there is none.
Importance RecordedImportance(const StudyData& study);

// Total effects (Jansen, 1999): the share of the model's variance that changes of one parameter alone, or together with
// others, account for. `points` are valid points spread over the space. Without shares if the total is 0. Errors are
// the model's.
absl::StatusOr<Importance> ComputedImportance(const StudyData& study,
                                              const Objective& objective,
                                              const Model& model,
                                              const std::vector<Point>& points);

Figure ImportanceFigure(const StudyData& study,
                        const Objective& objective,
                        const Importance& importance);

}  // namespace vernier::plot
