#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/registry.h"

namespace vernier::study {

// Where studies get their algorithms from: the registry, or what a test has instead.
struct AlgorithmSource {
  std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Choice&, const Problem&)>
      optimizer = NewOptimizer;
  std::function<absl::StatusOr<std::unique_ptr<EarlyStopper>>(const Choice&, Goal)> stopper =
      NewEarlyStopper;
};

// What a study asks its algorithm to optimise.
inline Problem ProblemOf(const StudySpec& spec, std::vector<EarlierStudy> earlier) {
  return {.space = spec.space,
          .objectives = spec.objectives,
          .outcome_constraints = spec.outcome_constraints,
          .earlier = std::move(earlier)};
}

}  // namespace vernier::study
