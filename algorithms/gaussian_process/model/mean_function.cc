#include "algorithms/gaussian_process/model/mean_function.h"

#include <cmath>
#include <cstddef>

#include "Eigen/Cholesky"

namespace vernier::gp {
namespace {

constexpr double kFirstWeight = 0.7;
constexpr double kFirstTrials = 3.0;
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

MeanFunction Match(const std::vector<Belief>& beliefs,
                   const Eigen::MatrixXd& rows,
                   const Eigen::VectorXd& targets) {
  MeanFunction mean;
  if (beliefs.empty()) return mean;
  const auto count = static_cast<Eigen::Index>(beliefs.size());
  const auto trials = static_cast<double>(rows.rows());
  Eigen::MatrixXd standard(rows.rows(), count);
  Eigen::VectorXd centres(count);
  Eigen::VectorXd scales(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Belief& belief = beliefs[static_cast<std::size_t>(i)];
    const Eigen::VectorXd believed = belief.f.At(rows);
    centres[i] = believed.mean();
    const Eigen::VectorXd centred = believed.array() - centres[i];
    const double variance = (kFirstTrials + centred.squaredNorm()) / (kFirstTrials + trials);
    scales[i] = belief.reliability / std::sqrt(variance);
    standard.col(i) = scales[i] * centred;
  }
  Eigen::MatrixXd normal = standard.transpose() * standard;
  normal.diagonal().array() += kFirstTrials;
  Eigen::VectorXd right = standard.transpose() * targets;
  right.array() += kFirstTrials * kFirstWeight / static_cast<double>(count);
  const Eigen::VectorXd weights = normal.llt().solve(right);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double weight = weights[i] * scales[i] / (1.0 + trials / kFadeTrials);
    if (weight > 0) mean.Add(beliefs[static_cast<std::size_t>(i)].f, weight, centres[i]);
  }
  return mean;
}

}  // namespace vernier::gp
