#include "algorithms/gaussian_process/kernel.h"

#include <cmath>
#include <cstddef>

#include "algorithms/gaussian_process/main_effect.h"

namespace vernier::gp {
std::vector<double> Hyperparameters::Pack() const {
  std::vector<double> theta = log_length_scales;
  theta.insert(theta.end(), {log_signal, log_main, log_noise});
  return theta;
}

Hyperparameters Hyperparameters::Unpack(std::span<const double> theta) {
  const std::size_t groups = theta.size() - PackedSize(0);
  return {.log_length_scales = {theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(groups)},
          .log_signal = theta[groups],
          .log_main = theta[groups + 1],
          .log_noise = theta[groups + 2]};
}

void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> r2) {
  const Eigen::ArrayXd a = (5.0 * r2).sqrt();
  r2 = (1.0 + a + a.square() / 3.0) * (-a).exp();
}

void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> r2, Eigen::Ref<Eigen::ArrayXd> slope) {
  const Eigen::ArrayXd a = (5.0 * r2).sqrt();
  const Eigen::ArrayXd decay = (-a).exp();
  slope = (5.0 / 3.0) * (1.0 + a) * decay;
  r2 = (1.0 + a + a.square() / 3.0) * decay;
}

Kernel::Kernel(const Hyperparameters& hyperparameters, const std::vector<int>& group_of_column)
    : signal_(std::exp(hyperparameters.log_signal)),
      main_(std::exp(hyperparameters.log_main)),
      inverse_scales_(static_cast<Eigen::Index>(group_of_column.size())) {
  for (Eigen::Index column = 0; column < inverse_scales_.size(); ++column) {
    const auto group = static_cast<std::size_t>(group_of_column[static_cast<std::size_t>(column)]);
    inverse_scales_[column] = std::exp(-hyperparameters.log_length_scales[group]);
    if (group == groups_.size()) groups_.push_back({.first = column, .size = 0});
    ++groups_[group].size;
  }
  if (groups_.empty()) main_ = 0;
}

Eigen::MatrixXd Kernel::Scaled(const Eigen::MatrixXd& features) const {
  return features * inverse_scales_.asDiagonal();
}

Eigen::MatrixXd Kernel::Lower(const Eigen::MatrixXd& z) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(z.rows(), z.rows());
  Add(z, z, Pairs::kLowerHalf, out);
  return out;
}

Eigen::MatrixXd Kernel::Between(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(a.rows(), b.rows());
  Add(a, b, Pairs::kAll, out);
  return out;
}

void Kernel::Add(const Eigen::MatrixXd& a,
                 const Eigen::MatrixXd& b,
                 Pairs pairs,
                 Eigen::MatrixXd& out) const {
  const auto add = [&](Eigen::Index first, Eigen::Index size, double inverse_reach, double weight) {
    Eigen::ArrayXd r2(a.rows());
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      const Eigen::Index rows = pairs == Pairs::kAll ? a.rows() : a.rows() - j;
      auto below = r2.tail(rows);
      below.setZero();
      for (Eigen::Index c = first; c < first + size; ++c) {
        below += (inverse_reach * (a.col(c).tail(rows).array() - b(j, c))).square();
      }
      ToCorrelation(below);
      out.col(j).tail(rows).array() += weight * below;
    }
  };
  add(0, a.cols(), 1.0, signal_);
  for (const Group& group : groups_) {
    const double share = main_ / static_cast<double>(groups_.size());
    if (group.size > 1 || !MainEffect::Holds(a.col(group.first)) ||
        !MainEffect::Holds(b.col(group.first))) {
      add(group.first, group.size, 1.0 / kMainReach, share);
      continue;
    }
    const MainEffect of_a(a.col(group.first));
    const MainEffect of_b(b.col(group.first));
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      const Eigen::Index rows = pairs == Pairs::kAll ? a.rows() : a.rows() - j;
      of_a.AddCorrelation(rows, of_b, j, share, out.col(j).tail(rows).array());
    }
  }
}

Kernel::Effects Kernel::EffectsOf(const Eigen::MatrixXd& a) const {
  Effects effects(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (group.size == 1 && MainEffect::Holds(a.col(group.first))) {
      effects[g].emplace(a.col(group.first));
    }
  }
  return effects;
}

Kernel::Sloped Kernel::BetweenWithSlopes(const Eigen::MatrixXd& a,
                                         const Effects& effects,
                                         const Eigen::RowVectorXd& b) const {
  Sloped out{.covariance = Eigen::VectorXd(a.rows()),
             .slopes = Eigen::MatrixXd(a.rows(), a.cols())};
  Eigen::ArrayXd r2 = (a.rowwise() - b).rowwise().squaredNorm();
  Eigen::ArrayXd slope(a.rows());
  ToCorrelation(r2, slope);
  out.covariance = signal_ * r2;
  out.slopes.colwise() = (signal_ * slope).matrix();
  const double share = main_ / static_cast<double>(groups_.size());
  constexpr double kInverse = 1.0 / (kMainReach * kMainReach);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (effects[g] && MainEffect::Holds(b[group.first])) {
      effects[g]->AddCorrelation(b[group.first], share, out.covariance.array(), slope);
      out.slopes.col(group.first) += (kInverse * slope).matrix();
      continue;
    }
    const auto columns = a.middleCols(group.first, group.size);
    r2 =
        kInverse * (columns.rowwise() - b.segment(group.first, group.size)).rowwise().squaredNorm();
    ToCorrelation(r2, slope);
    out.covariance.array() += share * r2;
    out.slopes.middleCols(group.first, group.size).colwise() += (share * kInverse * slope).matrix();
  }
  return out;
}

}  // namespace vernier::gp
