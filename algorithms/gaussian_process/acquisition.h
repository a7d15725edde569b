#pragma once

#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/posterior.h"

namespace vernier::gp {

// ln of the expected improvement over `incumbent` (Ament et al., 2023: LogEI), exact in its tails, plus ln of the
// probability that the trial does not fail, where there is a model of that.
//
// The failure model is a Gaussian process on labels +1 and -1; P(ok) is the chance that the mean label at the point is
// above 0. Where failures come by chance the mean label is the same everywhere and so changes nothing; at a border behind
// which trials fail it changes sign.
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
