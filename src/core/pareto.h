#pragma once

#include <span>
#include <vector>

namespace vernier {

// True if `a` is no worse than `b` anywhere and better somewhere. Larger is better; NaN is worse than everything.
// REQUIRES: equal lengths.
bool Dominates(std::span<const double> a, std::span<const double> b);

// For each point, whether another one dominates it. Equal points do not dominate each other.
// Takes n log n comparisons for one or two coordinates; for more, at most n times those that none dominates.
// REQUIRES: points of equal length.
std::vector<bool> Dominated(std::span<const std::vector<double>> points);

}  // namespace vernier
