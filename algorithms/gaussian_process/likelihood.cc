#include "algorithms/gaussian_process/likelihood.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "algorithms/numerics/cholesky.h"

namespace vernier::gp {

double Prior::NegativeLog(std::span<const double> theta, std::span<double> gradient) const {
  const std::size_t groups = theta.size() - 2;
  double penalty = 0;
  for (std::size_t k = 0; k < groups; ++k) {
    const double inverse_square = std::exp(-2.0 * theta[k]);
    penalty += length_scale_weight * (inverse_square + 1.0 / inverse_square);
    gradient[k] += 2.0 * length_scale_weight * (1.0 / inverse_square - inverse_square);
  }
  const double signal = std::exp(theta[groups]);
  const double noise = std::exp(theta[groups + 1]);
  penalty += signal_rate * signal - (signal_shape - 1.0) * theta[groups];
  penalty += noise_rate * noise - (noise_shape - 1.0) * theta[groups + 1];
  gradient[groups] += signal_rate * signal - (signal_shape - 1.0);
  gradient[groups + 1] += noise_rate * noise - (noise_shape - 1.0);
  return penalty;
}

Hyperparameters Prior::Mode(int groups) const {
  return {.log_length_scales = std::vector<double>(static_cast<std::size_t>(groups), std::log(0.8)),
          .log_signal = std::log((signal_shape - 1.0) / signal_rate),
          .log_noise = std::log((noise_shape - 1.0) / noise_rate)};
}

NegativeLogPosterior::NegativeLogPosterior(const Eigen::MatrixXd& features,
                                           const std::vector<int>& group_of_column,
                                           const Eigen::VectorXd& targets,
                                           const Prior& prior)
    : features_(features), group_of_column_(group_of_column), targets_(targets), prior_(prior) {}

double NegativeLogPosterior::operator()(std::span<const double> theta, std::span<double> gradient) {
  const Hyperparameters h = Hyperparameters::Unpack(theta);
  const double signal = std::exp(h.log_signal);
  const double noise = std::exp(h.log_noise);
  z_ = Scaled(features_, h.log_length_scales, group_of_column_);
  CorrelationLower(z_, correlation_, &slope_);
  covariance_.noalias() = signal * correlation_;
  covariance_.diagonal().array() += noise;
  const std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance_);
  if (!factor) return std::numeric_limits<double>::infinity();

  numerics::InvertLower(factor->lower, inverse_lower_);
  const Eigen::VectorXd whitened = inverse_lower_.triangularView<Eigen::Lower>() * targets_;
  const Eigen::VectorXd alpha =
      inverse_lower_.transpose().triangularView<Eigen::Upper>() * whitened;
  weights_.resize(alpha.size(), alpha.size());
  weights_.triangularView<Eigen::Lower>().setZero();
  weights_.selfadjointView<Eigen::Lower>().rankUpdate(inverse_lower_.transpose(), -1.0);
  weights_.selfadjointView<Eigen::Lower>().rankUpdate(alpha, 1.0);

  std::fill(gradient.begin(), gradient.end(), 0.0);
  const std::size_t groups = h.log_length_scales.size();
  const double trace = weights_.diagonal().sum();
  double product = 0;  // sum(W o K), by the lower half.
  for (Eigen::Index j = 0; j < alpha.size(); ++j) {
    const Eigen::Index below = alpha.size() - j - 1;
    product += weights_(j, j) * covariance_(j, j) +
               2.0 * weights_.col(j).tail(below).dot(covariance_.col(j).tail(below));
  }
  gradient[groups] = -0.5 * (product - noise * trace);
  gradient[groups + 1] = -0.5 * noise * trace;
  AddLengthScaleGradient(signal, gradient);
  const double log_determinant = factor->lower.diagonal().array().log().sum();
  return 0.5 * whitened.squaredNorm() + log_determinant + prior_.NegativeLog(theta, gradient);
}

// With G = W o s2 h, zero on the diagonal: d / d ln l_k = -(sum_i z_ik^2 g_i - z_k' G z_k), g = G 1. One product of G
// with all columns instead of a matrix of differences for each.
void NegativeLogPosterior::AddLengthScaleGradient(double signal, std::span<double> gradient) {
  weights_.triangularView<Eigen::Lower>() = (signal * weights_.cwiseProduct(slope_)).eval();
  weights_.diagonal().setZero();
  const Eigen::Index n = z_.rows();
  Eigen::MatrixXd right(n, z_.cols() + 1);
  right.leftCols(z_.cols()) = z_;
  right.col(z_.cols()).setOnes();
  const Eigen::MatrixXd image = weights_.selfadjointView<Eigen::Lower>() * right;
  for (Eigen::Index column = 0; column < z_.cols(); ++column) {
    const double spread = z_.col(column).cwiseAbs2().dot(image.col(z_.cols()));
    const double shared = z_.col(column).dot(image.col(column));
    gradient[static_cast<std::size_t>(group_of_column_[static_cast<std::size_t>(column)])] -=
        spread - shared;
  }
}

}  // namespace vernier::gp
