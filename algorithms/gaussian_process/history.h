#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/coordinates.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier::gp {

// What the model learns from, taken out of the trials.
//
// Trials stopped early enter with the worse of their last value and the median of the completed ones: what they would
// have come to is unknown, and they must never look better than they might be. A trial without a finite value has failed.
struct History {
  std::vector<Coordinates> points;  // Trials with a value, in the order in which they ended …
  std::vector<double> values;       // … and their values, larger is better.
  std::vector<Coordinates> failed;
  std::vector<Coordinates> pending;
};
History ReadHistory(const CoordinateSpace& space,
                    Goal goal,
                    std::span<const Observation> finished,
                    std::span<const PendingPoint> pending);

// Which of `values` (larger is better) a model of at most `limit` trials looks at, ascending indices: all if they are no
// more; else two fifths the best, a fifth the latest, and the rest spread evenly over the others in order.
std::vector<std::size_t> ChooseModelled(std::span<const double> values, std::size_t limit);

}  // namespace vernier::gp
