#pragma once

#include <optional>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/growing_factor.h"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/mean_function.h"

namespace vernier::gp {

// Mean and variance of the latent function (without noise).
struct Prediction {
  double mean = 0;
  double variance = 0;
};
struct PredictionWithGradient {
  Prediction value;
  Eigen::RowVectorXd mean_gradient;  // By feature.
  Eigen::RowVectorXd variance_gradient;
};

// A Gaussian process conditioned on data, its hyperparameters given (Rasmussen and Williams, 2006, algorithm 2.1).
// Variances are never below a small positive floor.
class Posterior {
 public:
  // Nullopt: the covariance matrix cannot be factorised, even with jitter.  `features`: n x p; `targets`: n; n >= 1.
  static std::optional<Posterior> Create(const Eigen::MatrixXd& features,
                                         const Eigen::VectorXd& targets,
                                         Hyperparameters hyperparameters,
                                         const std::vector<int>& group_of_column,
                                         MeanFunction mean = {});
  // Of a factor that is there already: that of `features` under `hyperparameters`, or of their first rows.
  static Posterior Extend(GrowingFactor factor,
                          const Eigen::MatrixXd& features,
                          const Eigen::VectorXd& targets,
                          Hyperparameters hyperparameters,
                          const std::vector<int>& group_of_column,
                          MeanFunction mean = {});

  // Conditions on a point whose value is believed to be its present mean (kriging believer; Ginsbourger et al., 2010):
  // leaves the mean function as it is, and shrinks the variance around the point. Costs n^2.
  void Believe(const Eigen::RowVectorXd& features);

  Eigen::VectorXd Means(const Eigen::MatrixXd& features) const;
  std::vector<Prediction> Predict(const Eigen::MatrixXd& features) const;
  PredictionWithGradient PredictWithGradient(const Eigen::RowVectorXd& features) const;

  // What each of the data would have been predicted to be from all others, in their order (Rasmussen and Williams, 2006,
  // eq. 5.12). Costs n^3 / 3.  REQUIRES: nothing is believed.  `targets`: those it was created with.
  Eigen::VectorXd LeaveOneOutMeans(const Eigen::VectorXd& targets) const;

  // The means at the data, in their order.
  const Eigen::VectorXd& fitted() const { return fitted_; }
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const Kernel& kernel() const { return kernel_; }
  // What the mean adds to the mean function: sum_i a_i k(x, x_i), x_i being data and believed points. The a_i:
  const Eigen::VectorXd& coefficients() const { return alpha_; }
  // … and the x_i, each column divided by its length scale.
  const Eigen::MatrixXd& scaled_points() const { return factor_.points(); }
  const GrowingFactor& factor() const { return factor_; }
  // Variance of the function before any data.
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
  GrowingFactor factor_;     // Of the data, then the believed points: m in all.
  Kernel::Effects effects_;  // Of the factor's points.
  Eigen::VectorXd fitted_;
  // m: K^-1 (y - mean); zero for believed points, as their values are no news.
  Eigen::VectorXd alpha_;
};

}  // namespace vernier::gp
