#pragma once

#include <utility>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"

namespace vernier::gp {

// x -> sum_i a_i k(x, x_i): what the mean of a Gaussian process with zero mean becomes once it has seen data at the x_i
// (Rasmussen and Williams, 2006, eq. 2.27).
class KernelExpansion {
 public:
  // `points`: the x_i, scaled by the kernel, one in a row; `coefficients`: the a_i.
  KernelExpansion(Kernel kernel, Eigen::MatrixXd points, Eigen::VectorXd coefficients)
      : kernel_(std::move(kernel)),
        points_(std::move(points)),
        effects_(kernel_.EffectsOf(points_)),
        coefficients_(std::move(coefficients)) {}

  // At each row.
  Eigen::VectorXd At(const Eigen::MatrixXd& features) const;
  // At one point; adds `weight` times the gradient by feature to `gradient`.
  double AtWithGradient(const Eigen::RowVectorXd& features,
                        double weight,
                        Eigen::RowVectorXd& gradient) const;

 private:
  Kernel kernel_;
  Eigen::MatrixXd points_;
  Kernel::Effects effects_;
  Eigen::VectorXd coefficients_;
};

// What a function is expected to be before any data: c + sum_i w_i f_i(x). Zero unless something is added.
class MeanFunction {
 public:
  // Adds weight (f(x) - centre).
  void Add(KernelExpansion f, double weight, double centre);

  bool is_zero() const { return terms_.empty(); }
  Eigen::VectorXd At(const Eigen::MatrixXd& features) const;
  // At one point; adds the gradient by feature to `gradient`.
  double AtWithGradient(const Eigen::RowVectorXd& features, Eigen::RowVectorXd& gradient) const;

 private:
  struct Term {
    KernelExpansion f;
    double weight;
  };
  std::vector<Term> terms_;
  double constant_ = 0;
};

// A function that is believed, from elsewhere, to tell where a metric is large.
struct Belief {
  KernelExpansion f;
  double reliability = 1;  // In [0, 1].
};
// By metric, objectives before outcome constraints.
using Beliefs = std::vector<std::vector<Belief>>;

// The mean function that beliefs f_i suggest after the trials so far. Studies differ in the range of their values, so each
// belief is brought to mean 0 and, over the trials, a deviation of its reliability, f^_i, and counts as far as the trials bear
// it out:
//   w = argmin |y - sum_i w_i f^_i|^2 + t |w - w0|^2,   not below 0,
// a ridge regression towards the weight w0 = kFirstWeight / (number of beliefs) that they have before there are trials. They are
// worth t = kFirstTrials trials: so many of variance 1 are also taken to have gone before when a variance is found. Weights fade as
// 1 / (1 + n / kFadeTrials), since the trials come to know better; an error of the mean is never final anyway, as the Gaussian
// process corrects it.
// `rows`: n x p, n >= 1; `targets`: n, mean 0 and variance 1.
MeanFunction Match(const std::vector<Belief>& beliefs,
                   const Eigen::MatrixXd& rows,
                   const Eigen::VectorXd& targets);

}  // namespace vernier::gp
