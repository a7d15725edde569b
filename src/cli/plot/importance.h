#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// How much each parameter matters: shares that sum to 1, the largest first, and where they come from, in words.
struct Importance {
  std::vector<std::pair<std::string, double>> shares;
  std::string source;
};

// What the model said with its latest suggestion; without shares if it never said anything.
Importance RecordedImportance(const StudyData& study);

// The share of the model's variation that each parameter has a part in: how far the expected objective moves on average when
// one parameter alone is drawn anew (total effects; Jansen, 1999). `points` are legal and spread over the space. A total of
// 0 gives no shares.
// Errors are the model's.
absl::StatusOr<Importance> ComputedImportance(const StudyData& study,
                                              const Objective& objective,
                                              const Model& model,
                                              const std::vector<Point>& points);

Figure ImportanceFigure(const StudyData& study,
                        const Objective& objective,
                        const Importance& importance);

}  // namespace vernier::plot
