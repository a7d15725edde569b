#include "algorithms/gaussian_process/posterior.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "algorithms/numerics/cholesky.h"

namespace vernier::gp {
namespace {

// Of the signal variance: what rounding may leave of a variance that is zero.
constexpr double kVarianceFloor = 1e-12;

}  // namespace

Posterior::Posterior(Hyperparameters hyperparameters, const std::vector<int>& group_of_column)
    : hyperparameters_(std::move(hyperparameters)),
      kernel_(hyperparameters_, group_of_column),
      noise_(std::exp(hyperparameters_.log_noise)) {}

std::optional<Posterior> Posterior::Create(const Eigen::MatrixXd& features,
                                           const Eigen::VectorXd& targets,
                                           Hyperparameters hyperparameters,
                                           const std::vector<int>& group_of_column) {
  Posterior p(std::move(hyperparameters), group_of_column);
  p.z_ = p.kernel_.Scaled(features);
  Eigen::MatrixXd covariance = p.kernel_.Lower(p.z_);
  covariance.diagonal().array() += p.noise_;
  std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance);
  if (!factor) return std::nullopt;
  p.lower_ = std::move(factor->lower);
  p.jitter_ = factor->jitter;
  p.alpha_ = p.lower_.triangularView<Eigen::Lower>().solve(targets);
  p.lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(p.alpha_);
  p.fitted_ = targets - (p.noise_ + p.jitter_) * p.alpha_;
  return p;
}

double Posterior::Floored(double variance) const {
  return std::max(variance, kVarianceFloor * signal());
}

void Posterior::Believe(const Eigen::RowVectorXd& features) {
  const Eigen::Index m = z_.rows();
  const Eigen::MatrixXd z = kernel_.Scaled(features);
  const Eigen::VectorXd border =
      lower_.triangularView<Eigen::Lower>().solve(kernel_.Between(z_, z).col(0));
  const double rest = signal() + noise_ + jitter_ - border.squaredNorm();
  z_.conservativeResize(m + 1, Eigen::NoChange);
  z_.row(m) = z;
  lower_.conservativeResize(m + 1, m + 1);
  lower_.col(m).setZero();
  lower_.row(m).head(m) = border;
  lower_(m, m) = std::sqrt(std::max(rest, kVarianceFloor * signal()));
  alpha_.conservativeResize(m + 1);
  alpha_[m] = 0.0;
}

Eigen::VectorXd Posterior::Means(const Eigen::MatrixXd& features) const {
  return kernel_.Between(z_, kernel_.Scaled(features)).transpose() * alpha_;
}

std::vector<Prediction> Posterior::Predict(const Eigen::MatrixXd& features) const {
  Eigen::MatrixXd k = kernel_.Between(z_, kernel_.Scaled(features));
  const Eigen::VectorXd means = k.transpose() * alpha_;
  lower_.triangularView<Eigen::Lower>().solveInPlace(k);
  const Eigen::RowVectorXd explained = k.colwise().squaredNorm();
  std::vector<Prediction> predictions(static_cast<std::size_t>(features.rows()));
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    predictions[static_cast<std::size_t>(i)] = {.mean = means[i],
                                                .variance = Floored(signal() - explained[i])};
  }
  return predictions;
}

PredictionWithGradient Posterior::PredictWithGradient(const Eigen::RowVectorXd& features) const {
  const Eigen::RowVectorXd z = kernel_.Scaled(features);
  const Kernel::Sloped k = kernel_.BetweenWithSlopes(z_, z);
  Eigen::VectorXd b = lower_.triangularView<Eigen::Lower>().solve(k.covariance);
  const double variance = signal() - b.squaredNorm();
  lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(b);

  PredictionWithGradient out;
  out.value = {.mean = k.covariance.dot(alpha_), .variance = Floored(variance)};
  // d k / d z = slopes o (Z - z); the chain rule through z = f / l gives one more inverse scale.
  const Eigen::MatrixXd steps = k.slopes.cwiseProduct(z_.rowwise() - z);
  out.mean_gradient = (alpha_.transpose() * steps).cwiseProduct(kernel_.inverse_scales());
  out.variance_gradient = -2.0 * (b.transpose() * steps).cwiseProduct(kernel_.inverse_scales());
  return out;
}

Eigen::VectorXd Posterior::LeaveOneOutMeans(const Eigen::VectorXd& targets) const {
  Eigen::MatrixXd inverse_lower;
  numerics::InvertLower(lower_, inverse_lower);
  const Eigen::VectorXd precision = inverse_lower.colwise().squaredNorm().transpose();
  return targets - alpha_.cwiseQuotient(precision);
}

}  // namespace vernier::gp
