#include "algorithms/gaussian_process/kernel.h"

#include <cmath>
#include <cstddef>

namespace vernier::gp {
namespace {

// Turns squared distances in `r2` into correlations, and writes their slopes: one exponential each.
template <typename Squares, typename Slopes>
void MapWithSlope(Squares&& r2, Slopes&& slope) {
  const Eigen::ArrayXd a = (5.0 * r2.array()).sqrt();
  const Eigen::ArrayXd decay = (-a).exp();
  slope.array() = (5.0 / 3.0) * (1.0 + a) * decay;
  r2.array() = (1.0 + a + a.square() / 3.0) * decay;
}

template <typename Squares>
void Map(Squares&& r2) {
  const Eigen::ArrayXd a = (5.0 * r2.array()).sqrt();
  r2.array() = (1.0 + a + a.square() / 3.0) * (-a).exp();
}

}  // namespace

std::vector<double> Hyperparameters::Pack() const {
  std::vector<double> theta = log_length_scales;
  theta.push_back(log_signal);
  theta.push_back(log_noise);
  return theta;
}

Hyperparameters Hyperparameters::Unpack(std::span<const double> theta) {
  const std::size_t groups = theta.size() - 2;
  return {.log_length_scales = {theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(groups)},
          .log_signal = theta[groups],
          .log_noise = theta[groups + 1]};
}

Eigen::MatrixXd Scaled(const Eigen::MatrixXd& features,
                       const std::vector<double>& log_length_scales,
                       const std::vector<int>& group_of_column) {
  Eigen::MatrixXd z = features;
  for (Eigen::Index column = 0; column < z.cols(); ++column) {
    const int group = group_of_column[static_cast<std::size_t>(column)];
    z.col(column) *= std::exp(-log_length_scales[static_cast<std::size_t>(group)]);
  }
  return z;
}

void CorrelationLower(const Eigen::MatrixXd& z,
                      Eigen::MatrixXd& correlation,
                      Eigen::MatrixXd* slope) {
  const Eigen::Index n = z.rows();
  correlation.resize(n, n);
  if (slope != nullptr) slope->resize(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    auto below = correlation.col(j).tail(n - j);
    below.setZero();
    for (Eigen::Index k = 0; k < z.cols(); ++k) {
      below.array() += (z.col(k).tail(n - j).array() - z(j, k)).square();
    }
    if (slope != nullptr) {
      MapWithSlope(below, slope->col(j).tail(n - j));
    } else {
      Map(below);
    }
  }
}

void CorrelationBetween(const Eigen::MatrixXd& a,
                        const Eigen::MatrixXd& b,
                        Eigen::MatrixXd& correlation,
                        Eigen::MatrixXd* slope) {
  correlation.resize(a.rows(), b.rows());
  if (slope != nullptr) slope->resize(a.rows(), b.rows());
  for (Eigen::Index j = 0; j < b.rows(); ++j) {
    auto column = correlation.col(j);
    column.setZero();
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      column.array() += (a.col(k).array() - b(j, k)).square();
    }
    if (slope != nullptr) {
      MapWithSlope(column, slope->col(j));
    } else {
      Map(column);
    }
  }
}

}  // namespace vernier::gp
