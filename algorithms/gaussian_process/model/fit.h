#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/likelihood.h"

namespace vernier::gp {

// What a fit may cost: evaluations from an earlier optimum, and from a standard start where there is none.
inline constexpr int kWarmEvaluations = 12;
inline constexpr int kColdEvaluations = 30;

// Where a fit searches from.
struct FitStarts {
  std::optional<Hyperparameters> warm;  // An earlier optimum. Without one, every standard start.
  std::optional<std::int64_t> besides;  // With one, this standard start, too: modulo their number.
};

// Maximum a posteriori hyperparameters: the best that searches from `starts` come to. The standard starts are the prior's
// mode, a short-scaled, nearly noiseless one, and one with next to no main effects, since the posterior often has a mode
// for each of these explanations of the data. Falls back on the prior's mode if nothing can be evaluated.
// REQUIRES: features.rows() >= 1; a warm start has `groups` length scales. Stops between searches if `stop` fires, with the best so far.
Hyperparameters FitHyperparameters(const Eigen::MatrixXd& features,
                                   const std::vector<int>& group_of_column,
                                   int groups,
                                   const Eigen::VectorXd& targets,
                                   const Prior& prior,
                                   const FitStarts& starts,
                                   const std::stop_token& stop);

}  // namespace vernier::gp
