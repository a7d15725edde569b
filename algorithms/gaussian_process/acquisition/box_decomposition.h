#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace vernier::gp {

// Values of the objectives at a point; larger is better.
using ObjectiveVector = std::vector<double>;

// Part of objective space that improves on a set of points: above a reference point and dominated by none of them.
// Stored as disjoint boxes whose sides lie at a few levels: in objective j reference_j, then the points' values
// ascending, then infinity.
struct BoxDecomposition {
  // Side of a box in one objective: indices of the levels at its ends.
  struct Side {
    std::size_t lower;
    std::size_t upper;
  };

  // By objective: strictly ascending levels; the last is infinity.
  std::vector<std::vector<double>> levels;
  std::vector<std::vector<Side>> boxes;  // By objective, then box.
};

// Decomposes the improvement on `points` into boxes. Leaves out dominated points, and those that are not above the
// reference in every objective. n points make n + 1 boxes for two objectives, at most 2 n + 1 for three, of the order
// of n^2 for four (Lacour, Klamroth and Fonseca, 2017).
BoxDecomposition Decompose(std::span<const ObjectiveVector> points,
                           const ObjectiveVector& reference);

// Chooses at most `limit` points far from each other: the best in each objective, then repeatedly the point farthest
// from those chosen. Returns ascending indices.
std::vector<std::size_t> Spread(std::span<const ObjectiveVector> points, std::size_t limit);

}  // namespace vernier::gp
