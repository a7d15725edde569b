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

// The boundary of the dominated region: the trials that none dominates in these two objectives, from left to right,
// with the corner between neighbours that both dominate. Trials that break a constraint are ignored.
std::vector<At> Staircase(const std::vector<ParetoPoint>& points,
                          const Objective& x,
                          const Objective& y);

// Two objectives of every completed trial.
Figure ParetoFigure(const StudyData& study, const Objective& x, const Objective& y);

}  // namespace vernier::plot
