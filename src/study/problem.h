#pragma once

#include <utility>
#include <vector>

#include "vernier/core/study.h"
#include "vernier/trial_log.h"

namespace vernier::study {

// What a study asks its algorithm to optimise.
inline Problem ProblemOf(const StudySpec& spec, std::vector<EarlierStudy> earlier) {
  return {.space = spec.space,
          .objectives = spec.objectives,
          .outcome_constraints = spec.outcome_constraints,
          .earlier = std::move(earlier)};
}

}  // namespace vernier::study
