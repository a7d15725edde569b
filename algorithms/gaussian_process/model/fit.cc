#include "algorithms/gaussian_process/model/fit.h"

#include <cmath>
#include <cstddef>
#include <span>

#include "algorithms/numerics/minimize.h"

// Minimises the negative log posterior (likelihood.h) over the logarithms of the hyperparameters within the prior's
// bounds, once from each start, and keeps the lowest value. Starts, tolerances and numbers of evaluations are fixed,
// and nothing depends on time, so that a replayed suggestion fits the same hyperparameters.
namespace vernier::gp {
namespace {

// Relative change of the value at which a search ends. A choice: far below what tells two models apart.
constexpr double kValueTolerance = 1e-5;
// Slope at which a search ends, in nats per unit of ln theta. A choice, that of Optuna's sampler: a tighter one costs
// evaluations and moves the optimum by less than the data determine it.
constexpr double kGradientTolerance = 1e-2;

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

// The values of the two starts beside the prior's mode are a choice: well inside the basin of the mode that each stands
// for.
std::vector<Hyperparameters> StandardStarts(const Prior& prior, int groups) {
  Hyperparameters wiggly = prior.Mode(groups);
  for (double& log_length_scale : wiggly.log_length_scales) log_length_scale = std::log(0.3);
  wiggly.log_noise = std::log(1e-4);
  Hyperparameters joint = prior.Mode(groups);
  joint.log_main = std::log(0.01);
  return {prior.Mode(groups), wiggly, joint};
}

std::vector<Hyperparameters> StartsOf(const FitStarts& starts, const Prior& prior, int groups) {
  std::vector<Hyperparameters> standard = StandardStarts(prior, groups);
  if (!starts.warm) return standard;
  std::vector<Hyperparameters> from = {*starts.warm};
  if (starts.standard_start)
    from.push_back(standard[static_cast<std::size_t>(*starts.standard_start) % standard.size()]);
  return from;
}

}  // namespace

Hyperparameters FitHyperparameters(const Eigen::MatrixXd& features,
                                   const std::vector<int>& group_of_column,
                                   int groups,
                                   const Eigen::VectorXd& targets,
                                   const Prior& prior,
                                   const FitStarts& starts,
                                   const std::stop_token& stop,
                                   const Eigen::VectorXd& own_variances) {
  NegativeLogPosterior posterior(features, group_of_column, targets, prior, own_variances);
  const auto objective = [&posterior](std::span<const double> theta, std::span<double> gradient) {
    return posterior(theta, gradient);
  };
  const numerics::StopRule rule{
      .max_evaluations = starts.warm ? starts.warm_evaluations : kColdEvaluations,
      .value_tolerance = kValueTolerance,
      .gradient_tolerance = kGradientTolerance,
      .stop = stop};
  std::optional<numerics::Minimum> best;
  for (const Hyperparameters& start : StartsOf(starts, prior, groups)) {
    if (stop.stop_requested()) break;
    // NLopt's search comes nearer to the optimum than our own L-BFGS with the same number of evaluations
    // (docs/adr/0010).
    const numerics::Minimum found = numerics::MinimizeNlopt(
        numerics::NloptAlgorithm::kLbfgs, objective, start.Pack(), BoundsOf(prior, groups), rule);
    if (std::isfinite(found.value) && (!best || found.value < best->value)) best = found;
  }
  return best ? Hyperparameters::Unpack(best->x) : prior.Mode(groups);
}

}  // namespace vernier::gp
