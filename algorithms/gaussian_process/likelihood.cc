#include "algorithms/gaussian_process/likelihood.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "algorithms/numerics/cholesky.h"

namespace vernier::gp {
namespace {

// -ln of a Gamma density at e^log_value, as a density of the value; adds its derivative by log_value.
double NegativeLogGamma(double shape, double rate, double log_value, double& slope) {
  const double value = std::exp(log_value);
  slope += rate * value - (shape - 1.0);
  return rate * value - (shape - 1.0) * log_value;
}

// Runs visit(j, first) for each column j of the lower half: its pairs are first … first + n - j - 2.
template <typename Visit>
void ForEachColumn(Eigen::Index n, const Visit& visit) {
  Eigen::Index first = 0;
  for (Eigen::Index j = 0; j + 1 < n; ++j) {
    visit(j, first, n - j - 1);
    first += n - j - 1;
  }
}

}  // namespace

double Prior::NegativeLog(std::span<const double> theta, std::span<double> gradient) const {
  const std::size_t groups = theta.size() - Hyperparameters::PackedSize(0);
  double penalty = 0;
  for (std::size_t k = 0; k < groups; ++k) {
    const double inverse_square = std::exp(-2.0 * theta[k]);
    penalty += length_scale_weight * (inverse_square + 1.0 / inverse_square);
    gradient[k] += 2.0 * length_scale_weight * (1.0 / inverse_square - inverse_square);
  }
  penalty += NegativeLogGamma(signal_shape, signal_rate, theta[groups], gradient[groups]);
  penalty += NegativeLogGamma(main_shape, main_rate, theta[groups + 1], gradient[groups + 1]);
  penalty += NegativeLogGamma(noise_shape, noise_rate, theta[groups + 2], gradient[groups + 2]);
  return penalty;
}

Hyperparameters Prior::Mode(int groups) const {
  return {.log_length_scales = std::vector<double>(static_cast<std::size_t>(groups), std::log(0.8)),
          .log_signal = std::log((signal_shape - 1.0) / signal_rate),
          .log_main = std::log((main_shape - 1.0) / main_rate),
          .log_noise = std::log((noise_shape - 1.0) / noise_rate)};
}

NegativeLogPosterior::NegativeLogPosterior(const Eigen::MatrixXd& features,
                                           const std::vector<int>& group_of_column,
                                           const Eigen::VectorXd& targets,
                                           const Prior& prior)
    : targets_(targets), prior_(prior), features_(features) {
  const Eigen::Index n = features.rows();
  const int groups = group_of_column.empty() ? 0 : group_of_column.back() + 1;
  only_column_.assign(static_cast<std::size_t>(groups), -1);
  for (std::size_t column = 0; column < group_of_column.size(); ++column) {
    const auto group = static_cast<std::size_t>(group_of_column[column]);
    const bool is_shared = std::count(group_of_column.begin(), group_of_column.end(), group) > 1;
    if (!is_shared) only_column_[group] = static_cast<Eigen::Index>(column);
  }
  squares_ = Eigen::ArrayXXd::Zero(n * (n - 1) / 2, groups);
  ForEachColumn(n, [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    for (Eigen::Index column = 0; column < features.cols(); ++column) {
      squares_.col(group_of_column[static_cast<std::size_t>(column)]).segment(first, size) +=
          (features.col(column).tail(size).array() - features(j, column)).square();
    }
  });
  joint_slope_.resize(squares_.rows());
  main_product_.resize(squares_.rows(), groups);
  weights_.resize(squares_.rows());
}

double NegativeLogPosterior::operator()(std::span<const double> theta, std::span<double> gradient) {
  const Hyperparameters h = Hyperparameters::Unpack(theta);
  const double signal = std::exp(h.log_signal);
  const double main = std::exp(h.log_main);
  const double noise = std::exp(h.log_noise);
  Correlate(h);
  FillCovariance(signal, main, noise);
  const std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance_);
  if (!factor) return std::numeric_limits<double>::infinity();

  numerics::InvertLower(factor->lower, inverse_);
  const Eigen::VectorXd whitened = inverse_.triangularView<Eigen::Lower>() * targets_;
  const Eigen::VectorXd alpha =
      inverse_.transpose().triangularView<Eigen::Upper>() * whitened;  // K^-1 y
  numerics::SquareLower(inverse_);
  ForEachColumn(alpha.size(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    weights_.segment(first, size) =
        (alpha[j] * alpha.tail(size) - inverse_.col(j).tail(size)).array();
  });

  // d / d theta = -1/2 tr(W dK / d theta); off the diagonal every pair counts twice.
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const std::size_t groups = h.log_length_scales.size();
  const double trace = alpha.squaredNorm() - inverse_.trace();
  const Eigen::VectorXd sloped = signal * weights_ * joint_slope_;
  const Eigen::VectorXd by_joint = squares_.matrix().transpose() * sloped;
  const Eigen::VectorXd by_main = main_product_.matrix().transpose() * weights_.matrix();
  for (std::size_t g = 0; g < groups; ++g) {
    const auto column = static_cast<Eigen::Index>(g);
    gradient[g] = -std::exp(-2.0 * theta[g]) * by_joint[column] - main * by_main[column];
  }
  gradient[groups] = -signal * (0.5 * trace + (weights_ * joint_).sum());
  gradient[groups + 1] = -main * (0.5 * trace + (weights_ * main_).sum());
  gradient[groups + 2] = -0.5 * noise * trace;
  const double log_determinant = factor->lower.diagonal().array().log().sum();
  return 0.5 * whitened.squaredNorm() + log_determinant + prior_.NegativeLog(theta, gradient);
}

void NegativeLogPosterior::Correlate(const Hyperparameters& h) {
  Eigen::VectorXd inverse_squares(squares_.cols());
  main_.setZero(squares_.rows());
  for (Eigen::Index g = 0; g < squares_.cols(); ++g) {
    const double inverse_scale = std::exp(-h.log_length_scales[static_cast<std::size_t>(g)]);
    inverse_squares[g] = inverse_scale * inverse_scale;
    AddMainEffect(g, inverse_scale);
  }
  joint_ = (squares_.matrix() * inverse_squares).array();
  ToCorrelation(joint_, joint_slope_);
}

void NegativeLogPosterior::AddMainEffect(Eigen::Index group, double inverse_scale) {
  const double share = 1.0 / static_cast<double>(squares_.cols());
  const Eigen::Index column = only_column_[static_cast<std::size_t>(group)];
  if (column >= 0) {
    const Eigen::VectorXd coordinates = inverse_scale * features_.col(column);
    if (MainEffect::Holds(coordinates)) {
      const MainEffect effect(coordinates);
      auto slopes = main_product_.col(group);
      ForEachColumn(features_.rows(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
        effect.AddCorrelation(
            size, effect, j, share, main_.segment(first, size), slopes.segment(first, size));
      });
      return;
    }
  }
  // h(r / reach) (r / reach)^2 is the derivative.
  Eigen::ArrayXd r2 = std::pow(inverse_scale / kMainReach, 2) * squares_.col(group);
  Eigen::ArrayXd slope(r2.size());
  main_product_.col(group) = share * r2;
  ToCorrelation(r2, slope);
  main_product_.col(group) *= slope;
  main_ += share * r2;
}

void NegativeLogPosterior::FillCovariance(double signal, double main, double noise) {
  const Eigen::Index n = targets_.size();
  covariance_.resize(n, n);
  covariance_.diagonal().setConstant(signal + main + noise);
  ForEachColumn(n, [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    covariance_.col(j).tail(size) =
        (signal * joint_.segment(first, size) + main * main_.segment(first, size)).matrix();
  });
}

}  // namespace vernier::gp
