#pragma once

#include <vector>

#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// A trial that counts, and its rank by the objective: 1 is the best. Trials of equal value share a rank, such as 2.5.
struct RankedTrial {
  const PlotTrial* trial = nullptr;
  double rank = 0;
};

// Of the trials that have a value and both parameters, by number; they point into the study.
std::vector<RankedTrial> Ranks(const StudyData& study, const Objective& objective, int x, int y);

// These trials over the parameters with the indices x and y, coloured by their ranks, so that the scale of the objective
// does not matter.
Figure RankFigure(const StudyData& study, const Objective& objective, int x, int y);

}  // namespace vernier::plot
