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

std::optional<Posterior> Posterior::Create(const Eigen::MatrixXd& features,
                                           const Eigen::VectorXd& targets,
                                           Hyperparameters hyperparameters,
                                           std::vector<int> group_of_column) {
  Posterior p;
  p.signal_ = std::exp(hyperparameters.log_signal);
  p.noise_ = std::exp(hyperparameters.log_noise);
  p.inverse_scales_.resize(features.cols());
  for (Eigen::Index column = 0; column < features.cols(); ++column) {
    const auto group = static_cast<std::size_t>(group_of_column[static_cast<std::size_t>(column)]);
    p.inverse_scales_[column] = std::exp(-hyperparameters.log_length_scales[group]);
  }
  p.z_ = features * p.inverse_scales_.asDiagonal();
  Eigen::MatrixXd covariance;
  CorrelationLower(p.z_, covariance, nullptr);
  covariance *= p.signal_;
  covariance.diagonal().array() += p.noise_;
  std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance);
  if (!factor) return std::nullopt;
  p.lower_ = std::move(factor->lower);
  p.jitter_ = factor->jitter;
  p.alpha_ = p.lower_.triangularView<Eigen::Lower>().solve(targets);
  p.lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(p.alpha_);
  p.fitted_ = targets - (p.noise_ + p.jitter_) * p.alpha_;
  p.hyperparameters_ = std::move(hyperparameters);
  p.group_of_column_ = std::move(group_of_column);
  return p;
}

double Posterior::Floored(double variance) const {
  return std::max(variance, kVarianceFloor * signal_);
}

void Posterior::Believe(const Eigen::RowVectorXd& features) {
  const Eigen::Index m = z_.rows();
  const Eigen::MatrixXd z = features * inverse_scales_.asDiagonal();
  Eigen::MatrixXd column;
  CorrelationBetween(z_, z, column, nullptr);
  const Eigen::VectorXd border =
      lower_.triangularView<Eigen::Lower>().solve(signal_ * column.col(0));
  const double rest = signal_ + noise_ + jitter_ - border.squaredNorm();
  z_.conservativeResize(m + 1, Eigen::NoChange);
  z_.row(m) = z;
  lower_.conservativeResize(m + 1, m + 1);
  lower_.col(m).setZero();
  lower_.row(m).head(m) = border;
  lower_(m, m) = std::sqrt(std::max(rest, kVarianceFloor * signal_));
  alpha_.conservativeResize(m + 1);
  alpha_[m] = 0.0;
}

Eigen::VectorXd Posterior::Means(const Eigen::MatrixXd& features) const {
  const Eigen::MatrixXd z = features * inverse_scales_.asDiagonal();
  Eigen::MatrixXd k;
  CorrelationBetween(z_, z, k, nullptr);
  return signal_ * (k.transpose() * alpha_);
}

std::vector<Prediction> Posterior::Predict(const Eigen::MatrixXd& features) const {
  const Eigen::MatrixXd z = features * inverse_scales_.asDiagonal();
  Eigen::MatrixXd k;
  CorrelationBetween(z_, z, k, nullptr);
  k *= signal_;
  const Eigen::VectorXd means = k.transpose() * alpha_;
  lower_.triangularView<Eigen::Lower>().solveInPlace(k);
  const Eigen::RowVectorXd explained = k.colwise().squaredNorm();
  std::vector<Prediction> predictions(static_cast<std::size_t>(features.rows()));
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    predictions[static_cast<std::size_t>(i)] = {.mean = means[i],
                                                .variance = Floored(signal_ - explained[i])};
  }
  return predictions;
}

PredictionWithGradient Posterior::PredictWithGradient(const Eigen::RowVectorXd& features) const {
  const Eigen::MatrixXd z = features * inverse_scales_.asDiagonal();
  Eigen::MatrixXd k;
  Eigen::MatrixXd slope;
  CorrelationBetween(z_, z, k, &slope);
  const Eigen::VectorXd covariance = signal_ * k.col(0);
  Eigen::VectorXd b = lower_.triangularView<Eigen::Lower>().solve(covariance);
  const double variance = signal_ - b.squaredNorm();
  lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(b);

  // d k_i / d z_k = -s2 h_i (z_k - Z_ik); the chain rule through z = f / l gives one more inverse scale.
  const Eigen::VectorXd weight = signal_ * slope.col(0);
  PredictionWithGradient out;
  out.value = {.mean = covariance.dot(alpha_), .variance = Floored(variance)};
  const auto pull = [&](const Eigen::VectorXd& dual) -> Eigen::RowVectorXd {
    const Eigen::VectorXd w = weight.cwiseProduct(dual);
    return ((w.transpose() * z_) - w.sum() * z).cwiseProduct(inverse_scales_);
  };
  out.mean_gradient = pull(alpha_);
  out.variance_gradient = -2.0 * pull(b);
  return out;
}

}  // namespace vernier::gp
