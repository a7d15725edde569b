#include "benchmarks/quality/plan.h"

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

namespace vernier::quality {

std::optional<Plan> ReadPlan(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  Plan plan;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--seeds" && i + 1 < arguments.size()) {
      plan.seeds = std::stoull(std::string(arguments[++i]));
    } else if (arguments[i] == "--only" && i + 1 < arguments.size()) {
      plan.only = arguments[++i];
    } else {
      plan.output = arguments[i];
    }
  }
  if (plan.output.empty() || plan.output.starts_with("-") || plan.seeds < 1) {
    std::fprintf(stderr, "usage: %s [--seeds N] [--only TEXT] OUTPUT.json\n", argv[0]);
    return std::nullopt;
  }
  return plan;
}

}  // namespace vernier::quality
