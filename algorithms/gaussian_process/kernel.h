#pragma once

#include <span>
#include <vector>

#include "Eigen/Core"

namespace vernier::gp {

// ln of what the kernel and the noise depend on.
struct Hyperparameters {
  std::vector<double> log_length_scales;  // One for each group of columns.
  double log_signal = 0;                  // Variance of the function.
  double log_noise = 0;                   // Variance of the noise.

  // ln l_1 … ln l_g, ln s2, ln v: the order of the gradient, too.
  std::vector<double> Pack() const;
  static Hyperparameters Unpack(std::span<const double> theta);
};

// Matern with nu = 5/2 and a length scale for each group of columns (Rasmussen and Williams, 2006, eq. 4.17), without
// the signal variance: c(r) = (1 + a + a^2/3) e^-a, a = sqrt(5) r, r^2 = |z - z'|^2.
// All matrices of points hold one in each row, columns already divided by their length scale (Scaled).

Eigen::MatrixXd Scaled(const Eigen::MatrixXd& features,
                       const std::vector<double>& log_length_scales,
                       const std::vector<int>& group_of_column);

// The lower halves of the correlation matrix and, if asked for, of its slope h = (5/3)(1 + a) e^-a, for which
// d c / d ln l_k = h D_k^2 / l_k^2 and d c / d z = -h (z - z').  Above the diagonal: unspecified.
void CorrelationLower(const Eigen::MatrixXd& z,
                      Eigen::MatrixXd& correlation,
                      Eigen::MatrixXd* slope);

// Correlations of each row of `a` with each row of `b`: a.rows() x b.rows(). Slopes likewise.
void CorrelationBetween(const Eigen::MatrixXd& a,
                        const Eigen::MatrixXd& b,
                        Eigen::MatrixXd& correlation,
                        Eigen::MatrixXd* slope);

}  // namespace vernier::gp
