#include "algorithms/gaussian_process/fit.h"

#include <cmath>
#include <cstddef>
#include <span>

#include "algorithms/numerics/minimize.h"

namespace vernier::gp {
namespace {

constexpr double kValueTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-2;  // Nats; tighter only costs time (README.md).

numerics::Box BoundsOf(const Prior& prior, int groups) {
  const auto size = static_cast<std::size_t>(groups);
  numerics::Box box{.lower = std::vector<double>(size, std::log(prior.min_length_scale)),
                    .upper = std::vector<double>(size, std::log(prior.max_length_scale))};
  box.lower.insert(
      box.lower.end(),
      {std::log(prior.min_signal), std::log(prior.min_main), std::log(prior.min_noise)});
  box.upper.insert(
      box.upper.end(),
      {std::log(prior.max_signal), std::log(prior.max_main), std::log(prior.max_noise)});
  return box;
}

std::vector<Hyperparameters> ColdStarts(const Prior& prior, int groups) {
  Hyperparameters wiggly = prior.Mode(groups);
  for (double& log_length_scale : wiggly.log_length_scales) log_length_scale = std::log(0.3);
  wiggly.log_noise = std::log(1e-4);
  Hyperparameters joint = prior.Mode(groups);
  joint.log_main = std::log(0.01);
  return {prior.Mode(groups), wiggly, joint};
}

}  // namespace

Hyperparameters FitHyperparameters(const Eigen::MatrixXd& features,
                                   const std::vector<int>& group_of_column,
                                   int groups,
                                   const Eigen::VectorXd& targets,
                                   const Prior& prior,
                                   const std::optional<Hyperparameters>& warm,
                                   const FitEffort& effort,
                                   const std::stop_token& stop) {
  NegativeLogPosterior posterior(features, group_of_column, targets, prior);
  const auto objective = [&posterior](std::span<const double> theta, std::span<double> gradient) {
    return posterior(theta, gradient);
  };
  const bool is_warm = warm && warm->log_length_scales.size() == static_cast<std::size_t>(groups);
  const std::vector<Hyperparameters> starts =
      is_warm ? std::vector<Hyperparameters>{*warm} : ColdStarts(prior, groups);
  const numerics::StopRule rule{
      .max_evaluations = is_warm ? effort.warm_evaluations : effort.cold_evaluations,
      .value_tolerance = kValueTolerance,
      .gradient_tolerance = kGradientTolerance};
  std::optional<numerics::Minimum> best;
  for (const Hyperparameters& start : starts) {
    if (stop.stop_requested()) break;
    // NLopt's search comes closer to the optimum than ours in as many evaluations: docs/adr/0010.
    const numerics::Minimum found = numerics::MinimizeNlopt(
        numerics::NloptAlgorithm::kLbfgs, objective, start.Pack(), BoundsOf(prior, groups), rule);
    if (std::isfinite(found.value) && (!best || found.value < best->value)) best = found;
  }
  return best ? Hyperparameters::Unpack(best->x) : prior.Mode(groups);
}

}  // namespace vernier::gp
