#include "src/cli/terminal/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace vernier::cli {

std::vector<double> NiceTicks(double low, double high, int count) {
  if (!(high > low)) {
    // One value: give it room on both sides, relative to its size.
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= room;
    high += room;
  }
  const double raw = (high - low) / std::max(1, count - 1);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  std::vector<double> ticks;
  for (int i = 0; first + i <= last; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> BestSoFar(const History& history) {
  double best = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> line;
  for (const HistoryPoint& point : history.points) {
    if (point.state == TrialState::kCompleted && std::isfinite(point.value) &&
        (std::isnan(best) || IsBetter(history.goal, point.value, best))) {
      best = point.value;
    }
    line.push_back(best);
  }
  return line;
}

}  // namespace vernier::cli
