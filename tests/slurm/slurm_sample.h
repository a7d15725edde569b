#pragma once

#include <string>

#include "gtest/gtest.h"
#include "tests/support/slurp.h"

namespace vernier::testing {

// What a program of Slurm printed.
inline std::string SlurmSample(const std::string& name) {
  std::string text = Slurp(std::string(VERNIER_SLURM_DATA) + "/" + name);
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

}  // namespace vernier::testing
