#include "algorithms/gaussian_process/model/likelihood.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "algorithms/numerics/cholesky.h"

// Value and gradient together: with K = L L', alpha = K^-1 y and W = alpha alpha' - K^-1,
//   -ln p(y | X, theta) = 1/2 |L^-1 y|^2 + sum_i ln L_ii + const      (Rasmussen and Williams, 2006, eq. 5.8)
//   d / d theta_k       = -1/2 tr(W dK / d theta_k)                   (eq. 5.9)
// so an evaluation costs a factor, an inverse and two passes over the pairs, however many length scales there are.
namespace vernier::gp {
namespace {

// Ratio of a^2 of a main effect to r_g^2.
constexpr double kSquaredRate = 5.0 / (kMainReach * kMainReach);

// -ln of a Gamma density at e^log_value, up to a constant; adds its derivative by log_value to `slope`. A density of
// the value, not of its logarithm: the mode is (shape - 1) / rate.
double NegativeLogGamma(double shape, double rate, double log_value, double& slope) {
  const double value = std::exp(log_value);
  slope += rate * value - (shape - 1.0);
  return rate * value - (shape - 1.0) * log_value;
}

// Calls visit(j, first, size) for each column j of the lower half: its pairs are first … first + size - 1.
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

// The length scale 0.8 is a choice near the penalty's mode, 1; a search starts from here.
Hyperparameters Prior::Mode(int groups) const {
  return {.log_length_scales = std::vector<double>(static_cast<std::size_t>(groups), std::log(0.8)),
          .log_signal = std::log((signal_shape - 1.0) / signal_rate),
          .log_main = std::log((main_shape - 1.0) / main_rate),
          .log_noise = std::log((noise_shape - 1.0) / noise_rate)};
}

NegativeLogPosterior::NegativeLogPosterior(const Eigen::MatrixXd& features,
                                           const std::vector<int>& group_of_column,
                                           const Eigen::VectorXd& targets,
                                           const Prior& prior,
                                           Eigen::VectorXd own_variances)
    : targets_(targets),
      own_variances_(std::move(own_variances)),
      prior_(prior),
      features_(features) {
  for (std::size_t column = 0; column < group_of_column.size(); ++column) {
    const auto group = static_cast<std::size_t>(group_of_column[column]);
    if (group == groups_.size()) {
      groups_.emplace_back().first = static_cast<Eigen::Index>(column);
    }
    ++groups_[group].size;
  }
  const Eigen::Index n = features.rows();
  joint_slope_.resize(n * (n - 1) / 2);
  covariance_.resize(n, n);
}

double NegativeLogPosterior::operator()(std::span<const double> theta, std::span<double> gradient) {
  const Hyperparameters h = Hyperparameters::Unpack(theta);
  const double signal = std::exp(h.log_signal);
  const double main = std::exp(h.log_main);
  const double noise = std::exp(h.log_noise);
  Correlate(h);
  FillCovariance(signal, main, noise);
  const std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance_);
  // A search takes an infinite value as a reason to step back.
  if (!factor) return std::numeric_limits<double>::infinity();

  numerics::InvertLower(factor->lower, inverse_);
  const Eigen::VectorXd whitened = inverse_.triangularView<Eigen::Lower>() * targets_;
  // alpha = K^-1 y
  const Eigen::VectorXd alpha = inverse_.transpose().triangularView<Eigen::Upper>() * whitened;
  numerics::SquareLower(inverse_);

  // d / d theta = -1/2 tr(W dK / d theta)
  std::fill(gradient.begin(), gradient.end(), 0.0);
  AddGradient(alpha, signal, main, gradient);
  // The diagonal: dK_ii is s2, m2 and v by the logarithms of the variances, and 0 by those of the length scales.
  const std::size_t groups = groups_.size();
  const double trace = alpha.squaredNorm() - inverse_.trace();
  gradient[groups] -= 0.5 * signal * trace;
  gradient[groups + 1] -= 0.5 * main * trace;
  gradient[groups + 2] -= 0.5 * noise * trace;
  const double log_determinant = factor->lower.diagonal().array().log().sum();
  return 0.5 * whitened.squaredNorm() + log_determinant + prior_.NegativeLog(theta, gradient);
}

void NegativeLogPosterior::Correlate(const Hyperparameters& h) {
  joint_.setZero(joint_slope_.size());
  main_.setZero(joint_slope_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const double inverse_scale = std::exp(-h.log_length_scales[g]);
    group.inverse_square = inverse_scale * inverse_scale;
    group.effect.reset();
    const Eigen::VectorXd scaled = inverse_scale * features_.col(group.first);
    if (group.size == 1 && MainEffect::Holds(scaled)) {
      group.effect.emplace(scaled);
    } else {
      AddPairs(group);
    }
  }
  const double share = 1.0 / static_cast<double>(groups_.size());
  ForEachColumn(features_.rows(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    auto squares = joint_.segment(first, size);
    for (const Group& group : groups_) {
      if (!group.effect) continue;
      group.effect->AddCorrelation(
          size, *group.effect, j, share, main_.segment(first, size), squares);
    }
    squares *= kMainReach * kMainReach;
    ToCorrelation(squares, joint_slope_.segment(first, size));
  });
}

// For a group without a main effect: adds its a^2 and correlation to those of all pairs. The squared differences do not
// depend on theta and are computed once.
void NegativeLogPosterior::AddPairs(Group& group) {
  if (group.squares.size() == 0) {
    group.squares.resize(joint_.size());
    ForEachColumn(features_.rows(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
      const auto columns = features_.middleCols(group.first, group.size);
      group.squares.segment(first, size) =
          (columns.bottomRows(size).rowwise() - columns.row(j)).rowwise().squaredNorm();
    });
  }
  Eigen::ArrayXd squares = group.inverse_square * kSquaredRate * group.squares;
  Eigen::ArrayXd slope(squares.size());
  joint_ += squares;
  group.derivatives = squares / 5.0;
  ToCorrelation(squares, slope);
  group.derivatives *= slope;
  main_ += squares / static_cast<double>(groups_.size());
}

void NegativeLogPosterior::FillCovariance(double signal, double main, double noise) {
  covariance_.diagonal().setConstant(signal + main + noise);
  if (own_variances_.size() > 0) covariance_.diagonal() += own_variances_;
  ForEachColumn(targets_.size(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    covariance_.col(j).tail(size) =
        (signal * joint_.segment(first, size) + main * main_.segment(first, size)).matrix();
  });
}

void NegativeLogPosterior::AddGradient(const Eigen::VectorXd& alpha,
                                       double signal,
                                       double main,
                                       std::span<double> gradient) const {
  const std::size_t groups = groups_.size();
  // d c(r) / d ln l_g = h r_g^2, and r_g^2 = a_g^2 / kSquaredRate.
  const double by_square = signal / kSquaredRate;
  const double by_derivative = main / static_cast<double>(groups);
  Eigen::ArrayXd all_weights(alpha.size());
  Eigen::ArrayXd all_sloped(alpha.size());
  ForEachColumn(alpha.size(), [&](Eigen::Index j, Eigen::Index first, Eigen::Index size) {
    auto weights = all_weights.head(size);
    auto sloped = all_sloped.head(size);
    weights = (alpha[j] * alpha.tail(size) - inverse_.col(j).tail(size)).array();
    sloped = weights * joint_slope_.segment(first, size);
    for (std::size_t g = 0; g < groups; ++g) {
      const Group& group = groups_[g];
      const MainEffect::Sums sums =
          group.effect
              ? group.effect->WeightedSums(j, sloped, weights)
              : MainEffect::Sums{
                    .squares = group.inverse_square * kSquaredRate *
                               (group.squares.segment(first, size) * sloped).sum(),
                    .derivatives = (group.derivatives.segment(first, size) * weights).sum()};
      gradient[g] -= by_square * sums.squares + by_derivative * sums.derivatives;
    }
    // Off the diagonal every pair counts twice.
    gradient[groups] -= signal * (weights * joint_.segment(first, size)).sum();
    gradient[groups + 1] -= main * (weights * main_.segment(first, size)).sum();
  });
}

}  // namespace vernier::gp
