#pragma once

#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"
#include "vernier/core/rng.h"

namespace vernier::gp {

// Candidates for a search of the acquisition's maximum. All are rounded; constraints are not checked.

// Returns `count` points spread over the space: a scrambled Sobol sequence.
std::vector<Coordinates> SpreadCandidates(const CoordinateSpace& space, int count, Rng& rng);

// Returns `count` perturbations of the centres, in turn. Each moves a random subset of the parameters, at least one:
// numbers by a normal step whose size is log-uniform between 0.001 and 0.3 of the range, choices to another one,
// uniformly.
// REQUIRES: centres is not empty.
std::vector<Coordinates> NearbyCandidates(const CoordinateSpace& space,
                                          const std::vector<Coordinates>& centres,
                                          int count,
                                          Rng& rng);

// Returns every point of a finite space with at most `limit` points, counted with conditions and without constraints.
// Empty for other spaces.
std::vector<Coordinates> AllCandidates(const CoordinateSpace& space, int limit);

// Returns points that differ in one active finite parameter: all other values of small domains, a few near and some
// farther ones of large ordered domains, a subsample of very many choices.  REQUIRES: u is rounded.
std::vector<Coordinates> Neighbours(const CoordinateSpace& space, const Coordinates& u);

}  // namespace vernier::gp
