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

// Surrogate of one earlier study.
struct EarlierModel {
  std::string study;  // Its name.
  Surrogate surrogate;
  std::size_t trials;  // Number of its trials with values.
};

// Knowledge from all earlier studies (docs/adr/0016).
struct EarlierPriors {
  PriorMeans metrics;  // In standard units of each study.
  std::vector<EarlierModel> models;
  // Best point of each study, without duplicates.
  std::vector<Coordinates> best;
  Eigen::MatrixXd tried;  // Features of all points tried in earlier studies: n x p.
  std::size_t known = 0;  // Number of their trials with values.
};

// Fits a surrogate to each earlier study of the problem by itself. `size`: of each model; nullopt: none is fitted.
// `tried`: the points of the problem's earlier studies.
// Internal: a model cannot be computed.  InvalidArgument: an earlier trial does not fit the problem.  Cancelled: `stop`
// fired.
absl::StatusOr<EarlierPriors> LearnFromEarlier(const CoordinateSpace& space,
                                               const FeatureMap& features,
                                               const Problem& problem,
                                               const std::optional<ModelSize>& size,
                                               const sampling::EarlierPoints& tried,
                                               const std::stop_token& stop);

}  // namespace vernier::gp
