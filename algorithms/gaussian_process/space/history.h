#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"
#include "vernier/core/study.h"
#include "vernier/trial_log.h"

namespace vernier::gp {

// What the model learns from, taken out of the trials. A trial that lacks a finite value of an objective has failed.
struct History {
  TrialLog::View read;              // What the rest was taken from.
  std::vector<Coordinates> points;  // Trials with values, in the order in which they ended …
  std::vector<std::vector<double>> values;  // … by objective their values, larger is better …
  // … by constraint how far they keep it, NaN: not known …
  std::vector<std::vector<double>> slacks;
  std::vector<std::size_t> stopped_early;  // … and which of them were: ascending indices.
  std::vector<Coordinates> failed;

  // Of trials that were finished, with values or not.
  std::size_t trials() const { return points.size() + failed.size(); }
};

// Brings the history up to date: reads what is new if `finished` continues what was read, else everything.
void Update(const CoordinateSpace& space,
            const Problem& problem,
            const TrialLog::View& finished,
            History& history);

// The values of an objective as the model takes them: a trial that was stopped early counts as the worse of its last value
// and the median of the completed ones. What it would have come to is unknown, and it must never look better than it
// might be.
std::vector<double> ModelledValues(const History& history, std::size_t objective);

// Which trials a model of at most `limit` of them looks at, ascending indices: all if they are no more; else two fifths
// the best, a fifth the latest, and the rest spread evenly over the others in order. Of several objectives, a trial is as
// good as the sum over them of 1 / its rank.  `values`: by objective, larger is better.
std::vector<std::size_t> ChooseModelled(std::span<const std::vector<double>> values,
                                        std::size_t limit);

}  // namespace vernier::gp
