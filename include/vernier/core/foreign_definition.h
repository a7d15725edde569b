#pragma once

#include <string>

namespace vernier {

// A study's definition as another service's client wrote it.
struct ForeignDefinition {
  std::string service;     // "vizier".
  std::string name;        // What the study is called there.
  std::string definition;  // In that service's own encoding.
  friend bool operator==(const ForeignDefinition&, const ForeignDefinition&) = default;
};

}  // namespace vernier
