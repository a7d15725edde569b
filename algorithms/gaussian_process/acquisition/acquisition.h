#pragma once

#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/posterior.h"

namespace vernier::gp {

// That the latent function of a model is at least so much.
struct Requirement {
  const Posterior* model;
  double least = 0;
  double extra_variance = 0;  // Of what is judged, beyond that of the latent function.
  // Points at which it is rather not met than met are worth next to nothing, whatever they promise: the acquisition has the
  // probability's logarithm from there on many times.
  bool is_firm = false;
};
// ln of the probability that it is met at points that the model predicts so.
double LogProbability(const Requirement& requirement, const Prediction& prediction);

// ln of the expected gain of hypervolume (expected_hypervolume.h), which for one objective is the expected improvement,
// plus ln of the probability of everything that is required: that outcome constraints are kept (Gardner et al., 2014) and
// that the trial does not fail.
class Acquisition {
 public:
  // All that is pointed to must outlive the object.  `objectives`: at least one.
  Acquisition(std::vector<const Posterior*> objectives,
              BoxDecomposition improvement,
              std::vector<Requirement> requirements);

  // For each group of columns the smallest length scale of the objectives.
  std::vector<double> LogLengthScales() const;

  // An upper bound that needs no variance: for screening many candidates.
  std::vector<double> OptimisticValues(const Eigen::MatrixXd& features) const;
  std::vector<double> Values(const Eigen::MatrixXd& features) const;
  // The value; writes its gradient by feature.
  double ValueAndGradient(const Eigen::RowVectorXd& features, Eigen::RowVectorXd& gradient) const;

 private:
  // ln of the expected gain where predictions are so, by objective and point.
  std::vector<double> Gains(const std::vector<std::vector<Prediction>>& predictions) const;

  std::vector<const Posterior*> objectives_;
  BoxDecomposition improvement_;
  std::vector<Requirement> requirements_;
};

}  // namespace vernier::gp
