#pragma once

#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/coordinates.h"
#include "algorithms/gaussian_process/features.h"
#include "algorithms/gaussian_process/mean_function.h"
#include "vernier/trial_log.h"

namespace vernier::gp {

// What earlier studies make one expect.
struct EarlierBeliefs {
  Beliefs metrics;  // In standard units of each study.
  // The best point of each study, one and the same only once.
  std::vector<Coordinates> best;
};

// Models every earlier study of the problem by itself.  Internal: a model cannot be computed.
absl::StatusOr<EarlierBeliefs> LearnFromEarlier(const CoordinateSpace& space,
                                                const FeatureMap& features,
                                                const Problem& problem,
                                                const std::stop_token& stop);

}  // namespace vernier::gp
