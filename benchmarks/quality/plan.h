#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vernier::quality {

// What a benchmark over seeds and functions is told.
struct Plan {
  std::uint64_t seeds = 10;
  std::string only;    // Functions whose name or family holds it.
  std::string output;  // A file.
};

// Reads [--seeds N] [--only TEXT] OUTPUT.json.  Nullopt, with a line on stderr: there is no such plan.
std::optional<Plan> ReadPlan(int argc, char** argv);

}  // namespace vernier::quality
