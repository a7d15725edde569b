#pragma once

#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/posterior.h"

namespace vernier::gp {

// ln of the expected improvement over `incumbent` (Ament et al., 2023: LogEI), exact in its tails, plus ln of the
// probability that the trial does not fail, where there is a model of that.
//
// The failure model is a Gaussian process on labels +1 and -1; P(ok) is the chance that the label of a new trial, noise
// included, is above 0. So failures that come by chance (much noise) weigh little, a sharp border weighs much.
class Acquisition {
 public:
  // All must outlive the object; `success` may be null.
  Acquisition(const Posterior& objective, double incumbent, const Posterior* success);

  double incumbent() const { return incumbent_; }
  const Posterior& objective() const { return objective_; }

  // An upper bound that needs no variance: for screening many candidates.
  std::vector<double> OptimisticValues(const Eigen::MatrixXd& features) const;
  std::vector<double> Values(const Eigen::MatrixXd& features) const;
  // The value; writes its gradient by feature.
  double ValueAndGradient(const Eigen::RowVectorXd& features, Eigen::RowVectorXd& gradient) const;

 private:
  const Posterior& objective_;
  const double incumbent_;
  const Posterior* success_;
};

}  // namespace vernier::gp
