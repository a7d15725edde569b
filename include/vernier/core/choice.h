#pragma once

#include <map>
#include <string>

#include "vernier/core/space.h"

namespace vernier {

// Something chosen by name, with options of its own: an algorithm, a stopping rule.
struct Choice {
  std::string name;
  std::map<std::string, ParameterValue> options;
  friend bool operator==(const Choice&, const Choice&) = default;
};

}  // namespace vernier
