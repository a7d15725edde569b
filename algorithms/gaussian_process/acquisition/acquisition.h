#pragma once

#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/posterior.h"

namespace vernier::gp {

// Requirement that the latent function of a model be at least a value: an outcome constraint, or that a trial works.
struct Requirement {
  const Posterior* model;  // Not owned.
  double least = 0;
  double extra_variance = 0;  // Added to the variance of the latent function.
  // A firm requirement outweighs any expected improvement: where its probability is below one half, the excess of its
  // logarithm counts many times (docs/adr/0027).
  bool is_firm = false;
};
// ln of the probability that the requirement is met at a point with this prediction of its model.
double LogProbability(const Requirement& requirement, const Prediction& prediction);

// Acquisition function: ln of the expected gain of hypervolume (expected_hypervolume.h), for one objective the expected
// improvement, plus ln of the probability of each requirement: that outcome constraints are kept (Gardner et al., 2014)
// and that the trial does not fail. Arguments are features (FeatureMap), 1 x p or n x p.
class Acquisition {
 public:
  // Models must outlive the object.  REQUIRES: at least one objective; `improvement` has as many.
  Acquisition(std::vector<const Posterior*> objectives,
              BoxDecomposition improvement,
              std::vector<Requirement> requirements);

  // Smallest length scale over the objectives, as logarithms, by group of columns.
  std::vector<double> LogLengthScales() const;

  // Upper bounds of the values that need no posterior variance: for screening many candidates.
  std::vector<double> OptimisticValues(const Eigen::MatrixXd& features) const;
  std::vector<double> Values(const Eigen::MatrixXd& features) const;
  // Value at one point; writes its gradient by feature.
  double ValueAndGradient(const Eigen::RowVectorXd& features, Eigen::RowVectorXd& gradient) const;

 private:
  // ln of the expected gain at each point. `predictions`: by objective, then point.
  std::vector<double> Gains(const std::vector<std::vector<Prediction>>& predictions) const;

  std::vector<const Posterior*> objectives_;
  BoxDecomposition improvement_;
  std::vector<Requirement> requirements_;
};

}  // namespace vernier::gp
