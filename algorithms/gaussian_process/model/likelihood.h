#pragma once

#include <optional>
#include <span>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/main_effect.h"

namespace vernier::gp {

// What is believed of the hyperparameters before any data, and within which bounds they are sought (all of ln values).
//
// Penalties of the length scales, the signal and the noise are those of Optuna's sampler, which came out best of those we
// compared (docs/adr/0012): with q = 1 / l^2, ln p = -0.1 (q + 1/q) for each length scale, Gamma(2, 1) for the variance
// of the joint part, Gamma(1.5, 1) for that of the main effects, Gamma(1.1, 30) for the noise.
struct Prior {
  double length_scale_weight = 0.1;
  double signal_shape = 2.0;
  double signal_rate = 1.0;
  double main_shape = 1.5;
  double main_rate = 1.0;
  double noise_shape = 1.1;
  double noise_rate = 30.0;

  double min_length_scale = 0.02;
  double max_length_scale = 100.0;
  double min_signal = 0.05;
  double max_signal = 20.0;
  double min_main = 1e-3;
  double max_main = 20.0;
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
//
// What depends on pairs of points i > j is kept in arrays over the pairs, by columns of the lower half: (1, 0), (2, 0) …
// (n-1, 0), (2, 1) … What a main effect is made of is not kept: to compute it again is cheaper than to fetch it.
class NegativeLogPosterior {
 public:
  // `features`: n x p, n >= 1; `targets`: n.  The columns of a group are neighbours; `targets` must outlive the object.
  NegativeLogPosterior(const Eigen::MatrixXd& features,
                       const std::vector<int>& group_of_column,
                       const Eigen::VectorXd& targets,
                       const Prior& prior);

  // The value; writes the gradient. Infinite where the covariance matrix cannot be factorised.
  double operator()(std::span<const double> theta, std::span<double> gradient);

 private:
  struct Group {
    Eigen::Index first = 0;  // Of its columns.
    Eigen::Index size = 0;
    double inverse_square = 0;         // 1 / l_g^2
    std::optional<MainEffect> effect;  // Of a single column, where it holds; elsewhere, by pair:
    Eigen::ArrayXd squares;            // |x_g - x'_g|^2
    Eigen::ArrayXd derivatives;        // Of c(r_g / kMainReach) by ln l_g.
  };
  void Correlate(const Hyperparameters& h);
  void AddPairs(Group& group);
  void FillCovariance(double signal, double main, double noise);
  // Adds that of the pairs: W = alpha alpha' - K^-1 from `alpha` and inverse_.
  void AddGradient(const Eigen::VectorXd& alpha,
                   double signal,
                   double main,
                   std::span<double> gradient) const;

  const Eigen::VectorXd& targets_;
  const Prior prior_;
  Eigen::MatrixXd features_;
  std::vector<Group> groups_;
  Eigen::ArrayXd joint_;        // c(r)
  Eigen::ArrayXd joint_slope_;  // h(r)
  Eigen::ArrayXd main_;         // Mean over the groups of c(r_g / kMainReach)
  Eigen::MatrixXd covariance_;  // Lower half.
  Eigen::MatrixXd inverse_;     // L^-1, then the lower half of K^-1.
};

}  // namespace vernier::gp
