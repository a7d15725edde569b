#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "vernier/core/space.h"

namespace vernier::testing {

struct SpaceCase {
  std::string name;
  Space space;
};
inline std::ostream& operator<<(std::ostream& out, const SpaceCase& space) {
  return out << space.name;
}

// One space of every kind. Every float has points, so that a grid takes it too.
std::vector<SpaceCase> AllSpaceCases();

}  // namespace vernier::testing
