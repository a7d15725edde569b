#pragma once

#include <span>
#include <vector>

namespace vernier {

// Whether `a` is no worse than `b` in every coordinate and better in one. Larger is better; NaN is worse than every
// number.
// REQUIRES: equal lengths.
bool Dominates(std::span<const double> a, std::span<const double> b);

// Returns for each point whether another one dominates it. Equal points do not dominate each other. For n points, takes
// O(n log n) comparisons with one or two coordinates, and O(n f) with more, for f points that are not dominated.
// REQUIRES: points of equal length.
std::vector<bool> Dominated(std::span<const std::vector<double>> points);

}  // namespace vernier
