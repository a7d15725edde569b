#pragma once

#include <utility>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"

namespace vernier::gp {

// Function x -> sum_i a_i k(x, x_i): the posterior mean of a Gaussian process with zero prior mean and data at the x_i
// (Rasmussen and Williams, 2006, eq. 2.27).
class KernelExpansion {
 public:
  // `points`: the x_i, scaled by the kernel, n x p; `coefficients`: the a_i, n.
  KernelExpansion(Kernel kernel, Eigen::MatrixXd points, Eigen::VectorXd coefficients)
      : kernel_(std::move(kernel)),
        points_(std::move(points)),
        effects_(kernel_.EffectsOf(points_)),
        coefficients_(std::move(coefficients)) {}

  // Values at the rows of `features`.
  Eigen::VectorXd At(const Eigen::MatrixXd& features) const;
  // Value at one point; adds `weight` times the gradient by feature to `gradient`.
  double AtWithGradient(const Eigen::RowVectorXd& features,
                        double weight,
                        Eigen::RowVectorXd& gradient) const;

 private:
  Kernel kernel_;
  Eigen::MatrixXd points_;
  Kernel::Effects effects_;
  Eigen::VectorXd coefficients_;
};

// Prior mean function of a Gaussian process: c + sum_i w_i f_i(x). Zero unless terms are added.
class MeanFunction {
 public:
  // Adds weight (f(x) - centre).
  void Add(KernelExpansion f, double weight, double centre);

  bool is_zero() const { return terms_.empty(); }
  Eigen::VectorXd At(const Eigen::MatrixXd& features) const;
  // Value at one point; adds the gradient by feature to `gradient`.
  double AtWithGradient(const Eigen::RowVectorXd& features, Eigen::RowVectorXd& gradient) const;

 private:
  struct Term {
    KernelExpansion f;
    double weight;
  };
  std::vector<Term> terms_;
  double constant_ = 0;
};

// Prediction of a metric by the model of an earlier study: a candidate term of the prior mean function.
struct PriorMean {
  KernelExpansion f;
  // In [0, 1]: how much better than chance the model orders its own trials. 0: the term counts for nothing.
  double reliability = 1;
};
// By metric, objectives before outcome constraints.
using PriorMeans = std::vector<std::vector<PriorMean>>;

// Fits the prior mean function to the trials so far: the weights of the priors f_i (docs/adr/0016).
//
// Studies differ in the range of their values, so each f_i is standardised over the trials to f^_i with mean 0 and its
// reliability as standard deviation. The weights are a ridge regression of the targets on the f^_i,
//   w = argmin |y - sum_i w_i f^_i|^2 + t |w - w0|^2,   negative ones dropped,
// towards w0 = kFirstWeight / (number of priors), the weight that each has before there are trials. That first weight
// counts as t = kFirstTrials trials, and each variance is estimated as if t values of variance 1 came before. Weights
// fade as 1 / (1 + n / kFadeTrials) while the study's own trials take over. An error of the mean is never final: the
// Gaussian process models the residuals.
// `rows`: n x p, n >= 1; `targets`: n, mean 0 and variance 1.
MeanFunction FitMean(const std::vector<PriorMean>& priors,
                     const Eigen::MatrixXd& rows,
                     const Eigen::VectorXd& targets);

}  // namespace vernier::gp
