#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/model/mean_function.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "algorithms/sampling/earlier_points.h"
#include "vernier/trial_log.h"

namespace vernier::gp {

// What one earlier study makes one expect.
struct EarlierModel {
  std::string study;
  Surrogate surrogate;
  std::size_t trials;
};

// What all of them do.
struct EarlierBeliefs {
  Beliefs metrics;  // In standard units of each study.
  std::vector<EarlierModel> models;
  // The best point of each study, one and the same only once.
  std::vector<Coordinates> best;
  Eigen::MatrixXd tried;  // Features of every point that one of them tried.
  std::size_t known = 0;  // Number of their trials with values.
};

// Models every earlier study of the problem by itself. `size`: of each; nothing: they are not modelled. `tried`: of the
// problem.  Internal: a model cannot be computed.
absl::StatusOr<EarlierBeliefs> LearnFromEarlier(const CoordinateSpace& space,
                                                const FeatureMap& features,
                                                const Problem& problem,
                                                const std::optional<ModelSize>& size,
                                                const sampling::EarlierPoints& tried,
                                                const std::stop_token& stop);

}  // namespace vernier::gp
