#pragma once

#include <string>

#include "tests/support/slurp.h"

namespace vernier::testing {

// A file beside these tests.
inline std::string InitData(const std::string& name) {
  return Slurp(std::string(INIT_DATA) + "/" + name);
}

}  // namespace vernier::testing
