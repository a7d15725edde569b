#pragma once

#include <string>
#include <vector>

#include "vernier/core/space.h"

namespace vernier {

// A parameter that no point has, since its conditions and those of its ancestors contradict each other.
struct NeverActive {
  std::string parameter;
  std::string ancestor;  // Has no value that all of them allow.
  friend bool operator==(const NeverActive&, const NeverActive&) = default;
};

// In the order of the parameters' definition. Constraints are not looked at.
std::vector<NeverActive> FindNeverActive(const Space& space);

}  // namespace vernier
