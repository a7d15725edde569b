#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// One value of a choice on which other parameters depend: a part of the space with parameters of its own
// (docs/adr/0017).
struct Branch {
  int parameter;
  double cell;         // The value's coordinate.
  std::size_t trials;  // Number of configurations tried in the branch.

  // Whether a rounded configuration lies in the branch.
  bool Holds(const CoordinateSpace& space, const Coordinates& u) const;
};

// Returns the branch with the fewest tried configurations, the first of equals. If several choices have dependent
// parameters, they take turns: `turn` selects one. Nullopt: no choice has dependent parameters.
// `tried`: rounded configurations, in any number of spans.
std::optional<Branch> LeastTriedBranch(const CoordinateSpace& space,
                                       std::initializer_list<std::span<const Coordinates>> tried,
                                       std::uint64_t turn);

}  // namespace vernier::gp
