#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/model_size.h"

namespace vernier::gp {

// Largest number of evaluations of one search: from an earlier optimum, and from a standard start where there is none.
// Warm: 8 to 15 differ by less than noise (docs/adr/0018, 0041). Cold: a choice;
// the measured fits took 22 to 27 evaluations (docs/adr/0010).
inline constexpr int kWarmEvaluations = ModelSize().warm_evaluations;
inline constexpr int kColdEvaluations = 30;

// Starting points of a fit.
struct FitStarts {
  // An earlier optimum. Unset: the fit starts from every standard start.
  std::optional<Hyperparameters> warm;
  // With a warm start, also this standard start, modulo their number.
  std::optional<std::int64_t> standard_start;
  // Largest number of evaluations from each start, if there is a warm one.
  int warm_evaluations = kWarmEvaluations;
};

// Returns maximum a posteriori hyperparameters: the best optimum of the searches from `starts`. The standard starts are
// the prior's mode, one with short length scales and little noise, and one with little main effect: the posterior often
// has a mode for each of these explanations of the data. Returns the prior's mode if no start can be evaluated. If
// `stop` fires, stops between searches and returns the best so far.
// `features`: n x p, n >= 1; `targets`: n; `own_variances`: as in Posterior::Create.
// REQUIRES: a warm start has `groups` length scales.
Hyperparameters FitHyperparameters(const Eigen::MatrixXd& features,
                                   const std::vector<int>& group_of_column,
                                   int groups,
                                   const Eigen::VectorXd& targets,
                                   const Prior& prior,
                                   const FitStarts& starts,
                                   const std::stop_token& stop,
                                   const Eigen::VectorXd& own_variances = {});

}  // namespace vernier::gp
