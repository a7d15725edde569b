#pragma once

#include <span>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/kernel.h"

namespace vernier::gp {

// What is believed of the hyperparameters before any data, and within which bounds they are sought (all of ln values).
//
// Penalties are those of Optuna's sampler, which came out best of those we compared (README.md): with q = 1 / l^2,
// ln p = -0.1 (q + 1/q) for each length scale, Gamma(2, 1) for the signal variance, Gamma(1.1, 30) for the noise.
struct Prior {
  double length_scale_weight = 0.1;
  double signal_shape = 2.0;
  double signal_rate = 1.0;
  double noise_shape = 1.1;
  double noise_rate = 30.0;

  double min_length_scale = 0.02;
  double max_length_scale = 100.0;
  double min_signal = 0.05;
  double max_signal = 20.0;
  double min_noise = 1e-6;
  double max_noise = 2.0;

  // -ln p up to a constant; adds its gradient.
  double NegativeLog(std::span<const double> theta, std::span<double> gradient) const;
  // Near the mode of every factor.
  Hyperparameters Mode(int groups) const;
};

// -ln p(y | X, theta) - ln p(theta) of a Gaussian process with zero mean, as a function of theta = Hyperparameters::Pack
// (Rasmussen and Williams, 2006, eq. 5.8, 5.9). Owns its workspace: one object is used for many evaluations, by one
// thread.
class NegativeLogPosterior {
 public:
  // `features`: n x p, n >= 1; `targets`: n.  All are referred to and must outlive the object.
  NegativeLogPosterior(const Eigen::MatrixXd& features,
                       const std::vector<int>& group_of_column,
                       const Eigen::VectorXd& targets,
                       const Prior& prior);

  // The value; writes the gradient. Infinite where the covariance matrix cannot be factorised.
  double operator()(std::span<const double> theta, std::span<double> gradient);

 private:
  void AddLengthScaleGradient(double signal, std::span<double> gradient);

  const Eigen::MatrixXd& features_;
  const std::vector<int>& group_of_column_;
  const Eigen::VectorXd& targets_;
  const Prior prior_;
  Eigen::MatrixXd z_;
  Eigen::MatrixXd correlation_;
  Eigen::MatrixXd slope_;
  Eigen::MatrixXd covariance_;
  Eigen::MatrixXd inverse_lower_;  // L^-1
  Eigen::MatrixXd weights_;        // W = alpha alpha' - K^-1, lower half.
};

}  // namespace vernier::gp
