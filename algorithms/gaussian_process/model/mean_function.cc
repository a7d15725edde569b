#include "algorithms/gaussian_process/model/mean_function.h"

#include <cmath>
#include <cstddef>

#include "Eigen/Cholesky"

// Earlier studies enter as the prior mean function (Rasmussen and Williams, 2006, section 2.7): their models stay
// fixed, and the Gaussian process of the new study models the residuals. The weights are a function of the trials so
// far and are fitted anew at each call, so nothing of them is stored (docs/adr/0016).
namespace vernier::gp {
namespace {

// Weight of all priors together before there are trials. A choice below 1: an earlier study predicts its own task, and
// the new one may differ.
constexpr double kFirstWeight = 0.7;
// Number of trials that the first weight counts as. A choice: a few trials of the new study are enough to overrule it.
constexpr double kFirstTrials = 3.0;
// Number of trials after which weights have halved. Without fading, a study with its optimum elsewhere costs 0.03 at 40
// trials; over 30 trials instead of 10 it costs 0.012 (docs/research/warm_start.md).
constexpr double kFadeTrials = 10.0;

}  // namespace

Eigen::VectorXd KernelExpansion::At(const Eigen::MatrixXd& features) const {
  return kernel_.Between(points_, effects_, kernel_.Scaled(features)).transpose() * coefficients_;
}

double KernelExpansion::AtWithGradient(const Eigen::RowVectorXd& features,
                                       double weight,
                                       Eigen::RowVectorXd& gradient) const {
  const Eigen::RowVectorXd z = kernel_.Scaled(features);
  const Kernel::Sloped k = kernel_.BetweenWithSlopes(points_, effects_, z);
  const Eigen::RowVectorXd by_z =
      coefficients_.transpose() * k.slopes.cwiseProduct(points_.rowwise() - z);
  gradient += weight * by_z.cwiseProduct(kernel_.inverse_scales());
  return k.covariance.dot(coefficients_);
}

void MeanFunction::Add(KernelExpansion f, double weight, double centre) {
  constant_ -= weight * centre;
  terms_.push_back({.f = std::move(f), .weight = weight});
}

Eigen::VectorXd MeanFunction::At(const Eigen::MatrixXd& features) const {
  Eigen::VectorXd mean = Eigen::VectorXd::Constant(features.rows(), constant_);
  for (const Term& term : terms_) mean += term.weight * term.f.At(features);
  return mean;
}

double MeanFunction::AtWithGradient(const Eigen::RowVectorXd& features,
                                    Eigen::RowVectorXd& gradient) const {
  double mean = constant_;
  for (const Term& term : terms_) {
    mean += term.weight * term.f.AtWithGradient(features, term.weight, gradient);
  }
  return mean;
}

MeanFunction FitMean(const std::vector<PriorMean>& priors,
                     const Eigen::MatrixXd& rows,
                     const Eigen::VectorXd& targets) {
  MeanFunction mean;
  if (priors.empty()) return mean;
  const auto count = static_cast<Eigen::Index>(priors.size());
  const auto trials = static_cast<double>(rows.rows());
  Eigen::MatrixXd standard(rows.rows(), count);
  Eigen::VectorXd centres(count);
  Eigen::VectorXd scales(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const PriorMean& prior = priors[static_cast<std::size_t>(i)];
    // The deviation becomes the reliability, not 1: the ridge then shrinks an unreliable term's effect by itself.
    const Eigen::VectorXd believed = prior.f.At(rows);
    centres[i] = believed.mean();
    const Eigen::VectorXd centred = believed.array() - centres[i];
    const double variance = (kFirstTrials + centred.squaredNorm()) / (kFirstTrials + trials);
    scales[i] = prior.reliability / std::sqrt(variance);
    standard.col(i) = scales[i] * centred;
  }
  Eigen::MatrixXd normal = standard.transpose() * standard;
  normal.diagonal().array() += kFirstTrials;
  Eigen::VectorXd right = standard.transpose() * targets;
  right.array() += kFirstTrials * kFirstWeight / static_cast<double>(count);
  const Eigen::VectorXd weights = normal.llt().solve(right);
  for (Eigen::Index i = 0; i < count; ++i) {
    // A negative weight would aim at the worst points of an earlier study; such a study is ignored instead.
    const double weight = weights[i] * scales[i] / (1.0 + trials / kFadeTrials);
    if (weight > 0) mean.Add(priors[static_cast<std::size_t>(i)].f, weight, centres[i]);
  }
  return mean;
}

}  // namespace vernier::gp
