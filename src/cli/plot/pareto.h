#pragma once

#include <vector>

#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// A completed trial with finite values of two objectives.
struct ParetoPoint {
  const PlotTrial* trial = nullptr;
  At at;
};
std::vector<ParetoPoint> ParetoPoints(const StudyData& study,
                                      const Objective& x,
                                      const Objective& y);

// The line around what was reached: the trials that none dominates in these two objectives, from the left to the right, and
// between two of them the corner that both dominate. What breaks a constraint does not count.
std::vector<At> Staircase(const std::vector<ParetoPoint>& points,
                          const Objective& x,
                          const Objective& y);

// Two objectives of every completed trial.
Figure ParetoFigure(const StudyData& study, const Objective& x, const Objective& y);

}  // namespace vernier::plot
