#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/cli/terminal/canvas.h"
#include "vernier/core/study.h"

// Pictures of two objectives: every completed trial as a dot, the line behind which all of them lie.
namespace vernier::cli {

struct ParetoPoint {
  std::int64_t trial = 0;
  double x = 0;
  double y = 0;
  bool optimal = false;            // No other trial dominates it, in all objectives of the study.
  bool breaks_constraint = false;  // Not known to keep every outcome constraint.
};

struct ParetoPicture {
  std::string study;
  Objective x;
  Objective y;
  std::vector<ParetoPoint> points;  // With finite values.
};

// "accuracy (maximize)".
std::string AxisName(const Objective& objective);

// The points of the line around what was reached: the trials that none dominates in these two objectives, from the left to
// the right, and between two of them the corner that both dominate. What breaks a constraint does not count.
struct Corner {
  double x = 0;
  double y = 0;
};
std::vector<Corner> Staircase(const ParetoPicture& picture);

// Optimal trials as full dots, dominated ones small, those that break a constraint hollow; in ASCII "*", "o" and "!". Lines
// without newlines; one sentence if there is nothing to draw.
std::vector<std::string> DrawPareto(const ParetoPicture& picture,
                                    const PlotSize& size,
                                    bool unicode);

// The same, as a picture that stands alone.
std::string ParetoSvg(const ParetoPicture& picture);

}  // namespace vernier::cli
