#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// One value of a choice on which other parameters depend: a part of the space with parameters of its own.
struct Branch {
  int parameter;
  double cell;         // The value's coordinate.
  std::size_t trials;  // How many were tried in it.

  // Whether a rounded configuration lies in it.
  bool Holds(const CoordinateSpace& space, const Coordinates& u) const;
};

// The branch in which least was tried, the first of equals; of several choices, that whose turn it is. Nullopt: no choice
// has parameters that depend on it.  `tried`: rounded configurations, in as many parts as one likes.
std::optional<Branch> LeastTriedBranch(const CoordinateSpace& space,
                                       std::initializer_list<std::span<const Coordinates>> tried,
                                       std::uint64_t turn);

}  // namespace vernier::gp
