#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/kernel.h"
#include "algorithms/gaussian_process/likelihood.h"

namespace vernier::gp {

// What a fit may cost. Counts, not times.
struct FitEffort {
  int warm_evaluations = 15;  // From an earlier optimum.
  int cold_evaluations = 30;  // From each of the standard starts.
};

// Maximum a posteriori hyperparameters. Searches from `warm` if there is one of the right size, else from the prior's
// mode, from a short-scaled, nearly noiseless start, and from one with next to no main effects, since the posterior
// often has a mode for each of these explanations of the data. Falls back on the prior's mode if nothing can be evaluated.
// REQUIRES: features.rows() >= 1. Stops between searches if `stop` fires, with the best so far.
Hyperparameters FitHyperparameters(const Eigen::MatrixXd& features,
                                   const std::vector<int>& group_of_column,
                                   int groups,
                                   const Eigen::VectorXd& targets,
                                   const Prior& prior,
                                   const std::optional<Hyperparameters>& warm,
                                   const FitEffort& effort,
                                   const std::stop_token& stop);

}  // namespace vernier::gp
