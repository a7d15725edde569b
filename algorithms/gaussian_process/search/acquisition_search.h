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

// What one search may cost, as counts.
struct SearchEffort {
  int candidates = 512;  // Looked at by their mean, a third of them near the best points known.
  int scored = 512;      // Of these, so many get their full value.
  int starts = 4;        // Of these, so many are improved by local search.
  int local_evaluations = 40;  // Of value and gradient, for each start.
  int sweeps = 4;              // Of finite parameters, for each start.

  // For `models` models of `points` points each: the work stays bounded as they grow.
  static SearchEffort For(int points, int models);
};

// A configuration and what the acquisition makes of it.
struct Scored {
  Coordinates u;
  double value;
};

// Searches the space for the maximum of an acquisition function: candidates everywhere and near `centres`; the most
// promising ones improved by turns of a gradient search in the continuous coordinates and of best single moves in the
// finite ones. The acquisition is only ever evaluated at legal points.
class AcquisitionSearch {
 public:
  // `admits`: whether a rounded configuration may be proposed. `prior` is added to the acquisition. `region`: where the
  // continuous and ordered coordinates are looked for, mostly; null: everywhere. All are referred to.
  AcquisitionSearch(const CoordinateSpace& space,
                    const FeatureMap& features,
                    const Acquisition& acquisition,
                    const BorderPrior& prior,
                    const std::function<bool(const Coordinates&)>& admits,
                    const SearchEffort& effort,
                    const Region* region = nullptr);

  // Everything worth proposing, best first: the improved starts and all scored candidates. Empty if no candidate
  // is admitted, or `stop` fired.
  std::vector<Scored> Run(const std::vector<Coordinates>& centres,
                          Rng& rng,
                          const std::stop_token& stop) const;
  // The same from these candidates.
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
