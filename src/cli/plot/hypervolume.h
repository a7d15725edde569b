#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/cli/plot/study_data.h"

namespace vernier::plot {

// A value for each objective. The volume is measured up to there.
using Reference = std::map<std::string, double>;

// The worst values of the trials that count and have a finite value of every objective; empty if there are none.
Reference WorstValues(const StudyData& study);

struct HypervolumeStep {
  std::int64_t trial = 0;
  double volume = 0;
};
// The volume that these trials and the ones before them dominate.
// REQUIRES: the reference has every objective of the study.
std::vector<HypervolumeStep> Hypervolumes(const StudyData& study, const Reference& reference);

// REQUIRES: as Hypervolumes, or that there are no such trials.
Figure HypervolumeFigure(const StudyData& study, const Reference& reference);

}  // namespace vernier::plot
