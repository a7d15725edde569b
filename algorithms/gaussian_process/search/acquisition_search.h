#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/acquisition/border_prior.h"
#include "algorithms/gaussian_process/search/trust_region.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/features.h"
#include "vernier/core/rng.h"

namespace vernier::gp {

// Largest number of points of a finite space that are all scored. A choice: twice the candidates of a search.
inline constexpr int kMostEnumerated = 1024;

// Bounds on the work of one search, as counts.
struct SearchEffort {
  int candidates = 512;        // Candidates, a third of them near the best points.
  int scored = 512;            // Candidates that get their full value.
  int starts = 4;              // Scored candidates that are improved by local search.
  int local_evaluations = 40;  // Evaluations of value and gradient, for each start.
  int sweeps = 4;              // Sweeps over the finite parameters, for each start.

  // Effort for `models` models of `points` points each: the work stays bounded as they grow.
  static SearchEffort For(int points, int models);
};

// A configuration and its acquisition value.
struct Scored {
  Coordinates u;
  double value;
};

// Searches a space for the maximum of an acquisition function. Candidates are spread over the space and around
// `centres`; the best of them are improved by a gradient search in the continuous coordinates and best single moves in
// the finite ones, in turns. The acquisition is evaluated at admitted points only.
class AcquisitionSearch {
 public:
  // `admits`: whether a rounded configuration may be proposed. `prior` is added to the acquisition. `region`: bounds
  // the continuous and ordered coordinates of candidates and local searches; null: the whole space. All must outlive
  // the object.
  AcquisitionSearch(const CoordinateSpace& space,
                    const FeatureMap& features,
                    const Acquisition& acquisition,
                    const BorderPrior& prior,
                    const std::function<bool(const Coordinates&)>& admits,
                    const SearchEffort& effort,
                    const Region* region = nullptr);

  // Returns the improved starts and all scored candidates, best first. Empty if no candidate is admitted, or `stop`
  // fired.
  std::vector<Scored> Run(const std::vector<Coordinates>& centres,
                          Rng& rng,
                          const std::stop_token& stop) const;
  // The same from given candidates.  REQUIRES: all are rounded and admitted.
  std::vector<Scored> RunFrom(std::vector<Coordinates> candidates,
                              Rng& rng,
                              const std::stop_token& stop) const;

 private:
  void MoveIntoRegion(Coordinates& u, Rng& rng) const;
  void CutToRegion(Coordinates& u) const;
  std::vector<Coordinates> Candidates(const std::vector<Coordinates>& centres, Rng& rng) const;
  std::vector<Scored> Score(std::vector<Coordinates> candidates) const;
  std::vector<double> Values(const std::vector<Coordinates>& configurations) const;
  std::vector<Scored> ChooseStarts(const std::vector<Scored>& scored, Rng& rng) const;
  void Improve(Scored& at, const std::stop_token& stop) const;
  bool ImproveContinuous(Scored& at, const std::stop_token& stop) const;
  bool ImproveFinite(Scored& at) const;

  const CoordinateSpace& space_;
  const FeatureMap& features_;
  const Acquisition& acquisition_;
  const BorderPrior& prior_;
  const std::function<bool(const Coordinates&)>& admits_;
  const SearchEffort effort_;
  const Region* region_;
};

}  // namespace vernier::gp
