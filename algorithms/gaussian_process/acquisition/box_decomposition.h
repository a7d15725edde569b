#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vernier::gp {

// Values of the objectives at a point, larger being better.
using ObjectiveVector = std::vector<double>;

// The part of objective space that would be an improvement on a set of points: above a reference point, and dominated by
// none of them. As disjoint boxes, whose sides lie at few levels: those of objective j are reference_j, then the points'
// values ascending, then infinity.
struct BoxDecomposition {
  // The levels between which a box lies in one objective, as indices.
  struct Side {
    std::size_t lower;
    std::size_t upper;
  };

  // By objective, strictly ascending; the last is infinity.
  std::vector<std::vector<double>> levels;
  std::vector<std::vector<Side>> boxes;  // By objective.
};

// `points` that are not above the reference in every objective, and dominated ones, are left out. n points make n + 1
// boxes for two objectives, at most 2 n + 1 for three, of the order of n^2 for four (Lacour, Klamroth and Fonseca, 2017).
BoxDecomposition Decompose(std::span<const ObjectiveVector> points,
                           const ObjectiveVector& reference);

// At most `limit` of the points, those far from each other: the best in each objective, then always the one farthest from
// those chosen. Ascending indices.
std::vector<std::size_t> Spread(std::span<const ObjectiveVector> points, std::size_t limit);

}  // namespace vernier::gp
