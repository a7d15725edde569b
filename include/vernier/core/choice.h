#pragma once

#include <map>
#include <string>

#include "vernier/core/space.h"

namespace vernier {

// The name of an algorithm or a stopping rule, with its options: Choice{.name = "gp", .options = {}}.
struct Choice {
  std::string name;
  std::map<std::string, ParameterValue> options;
  friend bool operator==(const Choice&, const Choice&) = default;
};

}  // namespace vernier
