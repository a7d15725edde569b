#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"
#include "vernier/core/study.h"
#include "vernier/trial_log.h"

namespace vernier::gp {

// Finished trials as the model takes them. A trial without a finite value of every objective counts as failed.
struct EncodedTrials {
  TrialLog::View read;              // The trials encoded so far.
  std::vector<Coordinates> points;  // Trials with values, in the order in which they ended.
  // By objective, the values of `points`; larger is better.
  std::vector<std::vector<double>> values;
  // By outcome constraint, the slacks of `points`; NaN: unknown.
  std::vector<std::vector<double>> slacks;
  std::vector<std::size_t> stopped_early;  // Ascending indices into `points`.
  // Of each of these, the first objective's expected end, larger is better, and its standard deviation; NaN: unknown.
  std::vector<double> expected_ends;
  std::vector<double> expected_deviations;
  std::vector<Coordinates> failed;

  // Number of finished trials, with values or failed.
  std::size_t trials() const { return points.size() + failed.size(); }
};

// Brings `encoded` up to date with `finished`. Reads only the new trials if `finished` continues the view read before,
// else all of them.
void Update(const CoordinateSpace& space,
            const Problem& problem,
            const TrialLog::View& finished,
            EncodedTrials& encoded);

// Values of an objective as the model takes them. A trial that was stopped early counts as its expected end, but no better
// than the best completed trial: nobody measured it. Where that is unknown, it counts as the worse of its last value and
// the median of the completed trials, so that it does not look better than it may be.
std::vector<double> ModelledValues(const EncodedTrials& encoded, std::size_t objective);

// Standard deviations of these values: 0 where they were measured. Empty if all were.
std::vector<double> ModelledDeviations(const EncodedTrials& encoded, std::size_t objective);

// Subsample of at most `limit` trials for a model: ascending indices. All trials if they are no more; else the best
// (two fifths), the latest (a fifth), and the rest evenly spread over the others in order. With several objectives,
// trials are ordered by the sum of their reciprocal ranks.  `values`: by objective, larger is better.
std::vector<std::size_t> ChooseModelled(std::span<const std::vector<double>> values,
                                        std::size_t limit);

}  // namespace vernier::gp
