#pragma once

#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"
#include "vernier/core/rng.h"

namespace vernier::gp {

// Where a search for the acquisition's maximum looks first. All are rounded; constraints are not looked at.

// `count` points spread over the whole space: a scrambled Sobol sequence.
std::vector<Coordinates> SpreadCandidates(const CoordinateSpace& space, int count, Rng& rng);

// `count` perturbations of `centres`, taken in turn: each moves a random subset of the parameters (at least one), numbers
// by a normal step of log-uniform size between 0.001 and 0.3 of the range, choices to a uniform other one.
// REQUIRES: centres is not empty.
std::vector<Coordinates> NearbyCandidates(const CoordinateSpace& space,
                                          const std::vector<Coordinates>& centres,
                                          int count,
                                          Rng& rng);

// Every point of a finite space that has at most `limit` (conditions taken into account, constraints not); else none.
std::vector<Coordinates> AllCandidates(const CoordinateSpace& space, int limit);

// The points at most one parameter away: all other values of small domains, the nearest few and some farther ones of
// large ordered domains. Continuous and inactive parameters stay.  REQUIRES: u is rounded.
std::vector<Coordinates> Neighbours(const CoordinateSpace& space, const Coordinates& u);

}  // namespace vernier::gp
