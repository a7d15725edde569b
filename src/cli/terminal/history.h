#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// Pictures of a search: the objective of each trial in the order of their numbers, and the best so far.
namespace vernier::cli {

struct HistoryPoint {
  std::int64_t trial = 0;
  double value = 0;  // NaN and infinities are left out of the picture.
  TrialState state = TrialState::kCompleted;
  bool stopped_early = false;
};

struct History {
  std::string study;
  std::string metric;
  Goal goal = Goal::kMaximize;
  std::vector<HistoryPoint> points;  // By number.
};

struct PlotSize {
  int width = 80;   // Columns.
  int height = 16;  // Lines of the picture itself.
};

// Braille dots on a terminal: trials as dots, the best so far as a line; in ASCII "o" and "-". Lines without newlines.
// One sentence if there is nothing to draw.
std::vector<std::string> DrawHistory(const History& history, const PlotSize& size, bool unicode);

// A picture that stands alone: title, axes, ticks, points coloured by state, the best so far as a step line.
std::string HistorySvg(const History& history);

// Two to about `count` round numbers that span [low, high]: multiples of 1, 2 or 5 times a power of ten.
// REQUIRES: low <= high, both finite.
std::vector<double> NiceTicks(double low, double high, int count);

// The best of the points up to each, NaN before the first finite one of a trial that counts (completed ones).
std::vector<double> BestSoFar(const History& history);

}  // namespace vernier::cli
