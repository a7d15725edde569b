#pragma once

#include <optional>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/growing_factor.h"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/mean_function.h"

namespace vernier::gp {

// Posterior mean and variance of the latent function, without noise.
struct Prediction {
  double mean = 0;
  double variance = 0;
};
struct PredictionWithGradient {
  Prediction value;
  Eigen::RowVectorXd mean_gradient;  // By feature.
  Eigen::RowVectorXd variance_gradient;
};

// Gaussian process conditioned on data, with given hyperparameters (Rasmussen and Williams, 2006, algorithm 2.1).
// Variances have a small positive floor (kLeastVarianceShare).
class Posterior {
 public:
  // Conditions on data. Nullopt: the covariance matrix cannot be factorised, even with jitter.
  // `features`: n x p; `targets`: n; n >= 1. `mean`: prior mean function. `own_variances`: of targets that are less
  // certain than others, besides the noise of all; n, or empty: 0.
  static std::optional<Posterior> Create(const Eigen::MatrixXd& features,
                                         const Eigen::VectorXd& targets,
                                         Hyperparameters hyperparameters,
                                         const std::vector<int>& group_of_column,
                                         MeanFunction mean = {},
                                         const Eigen::VectorXd& own_variances = {});
  // The same from an existing factor, that of the first rows of `features` under `hyperparameters`: appends the others.
  static Posterior Extend(GrowingFactor factor,
                          const Eigen::MatrixXd& features,
                          const Eigen::VectorXd& targets,
                          Hyperparameters hyperparameters,
                          const std::vector<int>& group_of_column,
                          MeanFunction mean = {},
                          const Eigen::VectorXd& own_variances = {});

  // Conditions on a pending point as if its value were the posterior mean there (kriging believer; Ginsbourger et al.,
  // 2010). Shrinks the variance around the point and leaves all means unchanged. Costs n^2.
  void AddPending(const Eigen::RowVectorXd& features);

  Eigen::VectorXd Means(const Eigen::MatrixXd& features) const;
  std::vector<Prediction> Predict(const Eigen::MatrixXd& features) const;
  PredictionWithGradient PredictWithGradient(const Eigen::RowVectorXd& features) const;

  // Leave-one-out predictions: the posterior mean at each point given all others (Rasmussen and Williams, 2006, eq.
  // 5.12). Costs n^3 / 3.  REQUIRES: no pending point was added.  `targets`: those that it was created with.
  Eigen::VectorXd LeaveOneOutMeans(const Eigen::VectorXd& targets) const;

  // Posterior means at the data, in their order.
  const Eigen::VectorXd& fitted() const { return fitted_; }
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const Kernel& kernel() const { return kernel_; }
  // The a_i of the posterior mean, prior mean function + sum_i a_i k(x, x_i), over data and pending points x_i.
  const Eigen::VectorXd& coefficients() const { return alpha_; }
  // The x_i, each column divided by its length scale: m x p.
  const Eigen::MatrixXd& scaled_points() const { return factor_.points(); }
  const GrowingFactor& factor() const { return factor_; }
  // Prior variance of the function.
  double signal() const { return kernel_.variance(); }
  double noise() const { return noise_; }

 private:
  Posterior(GrowingFactor factor,
            const Eigen::MatrixXd& features,
            const Eigen::VectorXd& targets,
            Hyperparameters hyperparameters,
            Kernel kernel,
            MeanFunction mean);
  double Floored(double variance) const;

  Hyperparameters hyperparameters_;
  Kernel kernel_;
  MeanFunction mean_;
  double noise_ = 0;
  GrowingFactor factor_;     // Of the data, then the pending points: m in all.
  Kernel::Effects effects_;  // Of the factor's points.
  Eigen::VectorXd fitted_;   // Posterior means at the data: n.
  // K^-1 (y - mean): m. Zero for pending points, whose assumed values equal the mean.
  Eigen::VectorXd alpha_;
};

}  // namespace vernier::gp
