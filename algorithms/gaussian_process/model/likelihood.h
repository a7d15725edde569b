#pragma once

#include <optional>
#include <span>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/main_effect.h"

namespace vernier::gp {

// Prior and bounds of the hyperparameters. Searches run over their logarithms.
//
// With q = 1 / l^2, ln p = -0.1 (q + 1/q) for each length scale; Gamma(2, 1) for the variance of the joint part,
// Gamma(1.5, 1) for that of the main effects, Gamma(1.1, 30) for the noise. All but the main effects are as in Optuna's
// sampler, whose prior came out best of those compared (docs/adr/0011). Other strengths make no difference beyond noise
// (docs/research/parts_of_the_model.md). That of the main effects is a choice: a smaller mode than the joint part's.
struct Prior {
  double length_scale_weight = 0.1;
  double signal_shape = 2.0;
  double signal_rate = 1.0;
  double main_shape = 1.5;
  double main_rate = 1.0;
  double noise_shape = 1.1;
  double noise_rate = 30.0;

  // Bounds. A choice: wide, so that the penalties decide. Only the least noise was measured: 1e-4 instead makes no
  // difference beyond noise (docs/research/parts_of_the_model.md).
  double min_length_scale = 0.02;
  double max_length_scale = 100.0;
  double min_signal = 0.05;
  double max_signal = 20.0;
  double min_main = 1e-3;
  double max_main = 20.0;
  double min_noise = 1e-6;
  double max_noise = 2.0;

  // Returns -ln p up to a constant, and adds its gradient by theta = Hyperparameters::Pack to `gradient`.
  double NegativeLog(std::span<const double> theta, std::span<double> gradient) const;
  // Hyperparameters near the mode of every factor.
  Hyperparameters Mode(int groups) const;
};

// -ln p(y | X, theta) - ln p(theta) of a Gaussian process with zero mean, as a function of theta =
// Hyperparameters::Pack (Rasmussen and Williams, 2006, eq. 5.8, 5.9). Owns its workspace: one object serves many
// evaluations, by one thread.
//
// Arrays over the pairs of points i > j hold n (n - 1) / 2 numbers by columns of the lower half: (1, 0), (2, 0) …
// (n-1, 0), (2, 1) … Terms of main effects are not stored by pair: recomputing them is cheaper than fetching them.
class NegativeLogPosterior {
 public:
  // `features`: n x p, n >= 1; `targets`: n, must outlive the object. `own_variances`: as in Posterior::Create.
  // REQUIRES: the columns of a group are neighbours.
  NegativeLogPosterior(const Eigen::MatrixXd& features,
                       const std::vector<int>& group_of_column,
                       const Eigen::VectorXd& targets,
                       const Prior& prior,
                       Eigen::VectorXd own_variances = {});

  // Returns the value and writes the gradient. Infinite where the covariance matrix cannot be factorised.
  double operator()(std::span<const double> theta, std::span<double> gradient);

 private:
  struct Group {
    Eigen::Index first = 0;     // First column.
    Eigen::Index size = 0;      // Number of columns.
    double inverse_square = 0;  // 1 / l_g^2
    // Set for a single column where MainEffect::Holds. Otherwise the two arrays over the pairs are used.
    std::optional<MainEffect> effect;
    Eigen::ArrayXd squares;      // |x_g - x'_g|^2
    Eigen::ArrayXd derivatives;  // Of c(r_g / kMainReach) by ln l_g.
  };
  void Correlate(const Hyperparameters& h);
  void AddPairs(Group& group);
  void FillCovariance(double signal, double main, double noise);
  // Adds the pairs' part of the gradient, with W = alpha alpha' - K^-1 from `alpha` and inverse_.
  void AddGradient(const Eigen::VectorXd& alpha,
                   double signal,
                   double main,
                   std::span<double> gradient) const;

  const Eigen::VectorXd& targets_;
  const Eigen::VectorXd own_variances_;
  const Prior prior_;
  Eigen::MatrixXd features_;
  std::vector<Group> groups_;
  Eigen::ArrayXd joint_;        // c(r), by pair.
  Eigen::ArrayXd joint_slope_;  // h(r), by pair.
  Eigen::ArrayXd main_;         // Mean over the groups of c(r_g / kMainReach), by pair.
  Eigen::MatrixXd covariance_;  // Lower half.
  Eigen::MatrixXd inverse_;     // L^-1, then the lower half of K^-1.
};

}  // namespace vernier::gp
