#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/terminal/canvas.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Pictures of a search: the objective of each trial in the order of their numbers, and the best so far.
namespace vernier::cli {

struct HistoryPoint {
  std::int64_t trial = 0;
  double value = 0;  // NaN and infinities are left out of the picture.
  TrialState state = TrialState::kCompleted;
  bool stopped_early = false;
  bool breaks_constraint = false;  // Completed, but not known to keep every outcome constraint.
};

struct History {
  std::string study;
  std::string metric;
  Goal goal = Goal::kMaximize;
  std::vector<HistoryPoint> points;  // By number.
};

// Braille dots on a terminal: trials as dots, the best so far as a line; in ASCII "o" and "-". What breaks a constraint is
// hollow ("!" in ASCII). Lines without newlines.
// One sentence if there is nothing to draw.
std::vector<std::string> DrawHistory(const History& history, const PlotSize& size, bool unicode);

// A picture that stands alone: title, axes, ticks, points coloured by state, hollow where they break a constraint, the best
// so far as a step line.
std::string HistorySvg(const History& history);

// The best of the points up to each, NaN before the first finite one of a trial that counts: completed ones that break no
// constraint.
std::vector<double> BestSoFar(const History& history);

}  // namespace vernier::cli
