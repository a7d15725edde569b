#include "algorithms/gaussian_process/model/posterior.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "algorithms/numerics/cholesky.h"

// Posterior of a Gaussian process with Cholesky factor L of K + V (Rasmussen and Williams, 2006, algorithm 2.1), V the
// noise v on the diagonal and the points' own variances:
//   alpha = (K + V)^-1 (y - m(X)),  mean(x) = m(x) + k(x)' alpha,  variance(x) = k(x, x) - |L^-1 k(x)|^2.
// A mean costs n for each point, a variance n^2: searches screen candidates by their means first.
namespace vernier::gp {
Posterior::Posterior(GrowingFactor factor,
                     const Eigen::MatrixXd& features,
                     const Eigen::VectorXd& targets,
                     Hyperparameters hyperparameters,
                     Kernel kernel,
                     MeanFunction mean)
    : hyperparameters_(std::move(hyperparameters)),
      kernel_(std::move(kernel)),
      mean_(std::move(mean)),
      noise_(std::exp(hyperparameters_.log_noise)),
      factor_(std::move(factor)),
      effects_(kernel_.EffectsOf(factor_.points())) {
  alpha_ = targets;
  if (!mean_.is_zero()) alpha_ -= mean_.At(features);
  numerics::SolveLower(factor_.lower(), alpha_);
  numerics::SolveLowerTransposed(factor_.lower(), alpha_);
  // K alpha = (y - m) - V alpha, so the means at the data need no product with K.
  fitted_ = targets - factor_.nugget() * alpha_;
  if (factor_.own_variances().size() > 0) {
    fitted_ -= factor_.own_variances().cwiseProduct(alpha_);
  }
}

std::optional<Posterior> Posterior::Create(const Eigen::MatrixXd& features,
                                           const Eigen::VectorXd& targets,
                                           Hyperparameters hyperparameters,
                                           const std::vector<int>& group_of_column,
                                           MeanFunction mean,
                                           const Eigen::VectorXd& own_variances) {
  Kernel kernel(hyperparameters, group_of_column);
  std::optional<GrowingFactor> factor = GrowingFactor::Create(kernel,
                                                              std::exp(hyperparameters.log_noise),
                                                              kernel.Scaled(features),
                                                              features.rows(),
                                                              own_variances);
  if (!factor) return std::nullopt;
  return Posterior(*std::move(factor),
                   features,
                   targets,
                   std::move(hyperparameters),
                   std::move(kernel),
                   std::move(mean));
}

Posterior Posterior::Extend(GrowingFactor factor,
                            const Eigen::MatrixXd& features,
                            const Eigen::VectorXd& targets,
                            Hyperparameters hyperparameters,
                            const std::vector<int>& group_of_column,
                            MeanFunction mean,
                            const Eigen::VectorXd& own_variances) {
  Kernel kernel(hyperparameters, group_of_column);
  factor.Append(kernel, kernel.Scaled(features), factor.size(), own_variances);
  return Posterior(std::move(factor),
                   features,
                   targets,
                   std::move(hyperparameters),
                   std::move(kernel),
                   std::move(mean));
}

double Posterior::Floored(double variance) const {
  return std::max(variance, kLeastVarianceShare * signal());
}

void Posterior::AddPending(const Eigen::RowVectorXd& features) {
  factor_.Append(kernel_, kernel_.Scaled(features), 0);
  effects_ = kernel_.EffectsOf(factor_.points());
  alpha_.conservativeResize(factor_.size());
  // The residual at the assumed value is zero: no coefficient changes, and no mean does.
  alpha_[factor_.size() - 1] = 0.0;
}

Eigen::VectorXd Posterior::Means(const Eigen::MatrixXd& features) const {
  Eigen::VectorXd means =
      kernel_.Between(factor_.points(), effects_, kernel_.Scaled(features)).transpose() * alpha_;
  if (!mean_.is_zero()) means += mean_.At(features);
  return means;
}

std::vector<Prediction> Posterior::Predict(const Eigen::MatrixXd& features) const {
  const Eigen::MatrixXd k = kernel_.Between(factor_.points(), effects_, kernel_.Scaled(features));
  Eigen::VectorXd means = k.transpose() * alpha_;
  if (!mean_.is_zero()) means += mean_.At(features);
  // k' L'^-1: triangular systems with many right sides are solved faster from the right.
  Eigen::MatrixXd whitened = k.transpose();
  factor_.lower().transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(
      whitened);
  Eigen::VectorXd explained = Eigen::VectorXd::Zero(features.rows());
  for (const auto column : whitened.colwise()) explained += column.cwiseAbs2();
  std::vector<Prediction> predictions(static_cast<std::size_t>(features.rows()));
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    predictions[static_cast<std::size_t>(i)] = {.mean = means[i],
                                                .variance = Floored(signal() - explained[i])};
  }
  return predictions;
}

PredictionWithGradient Posterior::PredictWithGradient(const Eigen::RowVectorXd& features) const {
  const Eigen::RowVectorXd z = kernel_.Scaled(features);
  Kernel::Sloped k = kernel_.BetweenWithSlopes(factor_.points(), effects_, z);
  Eigen::VectorXd b = k.covariance;
  numerics::SolveLower(factor_.lower(), b);
  const double variance = signal() - b.squaredNorm();
  numerics::SolveLowerTransposed(factor_.lower(), b);

  PredictionWithGradient out;
  out.value = {.mean = k.covariance.dot(alpha_), .variance = Floored(variance)};
  // d k / d z = slopes o (Z - z); the chain rule through z = f / l gives one more inverse scale.
  Eigen::MatrixXd& steps = k.slopes;
  steps.array() *= (factor_.points().rowwise() - z).array();
  out.mean_gradient = (alpha_.transpose() * steps).cwiseProduct(kernel_.inverse_scales());
  out.variance_gradient = -2.0 * (b.transpose() * steps).cwiseProduct(kernel_.inverse_scales());
  out.value.mean += mean_.AtWithGradient(features, out.mean_gradient);
  return out;
}

Eigen::VectorXd Posterior::LeaveOneOutMeans(const Eigen::VectorXd& targets) const {
  Eigen::MatrixXd inverse_lower;
  numerics::InvertLower(factor_.lower(), inverse_lower);
  // Eq. 5.12: mu_i = y_i - alpha_i / (K^-1)_ii, and the diagonal of K^-1 = L'^-1 L^-1 is the columns' squared norms.
  const Eigen::VectorXd precision = inverse_lower.colwise().squaredNorm().transpose();
  return targets - alpha_.cwiseQuotient(precision);
}

}  // namespace vernier::gp
