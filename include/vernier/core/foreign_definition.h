#pragma once

#include <string>

namespace vernier {

// The definition of a study in the format of another service. A study that has one is called foreign.
struct ForeignDefinition {
  std::string service;     // "vizier".
  std::string name;        // Name of the study in that service.
  std::string definition;  // In the encoding of that service.
  friend bool operator==(const ForeignDefinition&, const ForeignDefinition&) = default;
};

}  // namespace vernier
