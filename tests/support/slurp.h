#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace vernier::testing {

// The contents of a file; empty if there is none.
inline std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace vernier::testing
