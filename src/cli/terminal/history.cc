#include "src/cli/terminal/history.h"

#include <cmath>
#include <limits>

namespace vernier::cli {

std::vector<double> BestSoFar(const History& history) {
  double best = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> line;
  for (const HistoryPoint& point : history.points) {
    const bool counts = point.state == TrialState::kCompleted && !point.breaks_constraint;
    if (counts && std::isfinite(point.value) &&
        (std::isnan(best) || IsBetter(history.goal, point.value, best))) {
      best = point.value;
    }
    line.push_back(best);
  }
  return line;
}

}  // namespace vernier::cli
