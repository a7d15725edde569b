#pragma once

#include "Eigen/Core"

namespace vernier::gp {

// Main effects have length scales shorter than the joint part's by this factor (kernel.h).
inline constexpr double kMainReach = 0.5;

// The main effect of one number at some points: Matern's correlation c(a) = (1 + a + a^2/3) e^-a of their distances
// a = |t - t'|, where t are the coordinates, divided by the length scale, times sqrt(5) / kMainReach.
//
// As e^-|t - t'| is the lesser of e^t' e^-t and e^-t' e^t, one pair of exponentials for each point does for all pairs of
// points.
class MainEffect {
 public:
  // Whether neither exponential overflows, nor their products lose anything that matters.
  static bool Holds(const Eigen::VectorXd& coordinates);

  static bool Holds(double coordinate);

  // REQUIRES: Holds(coordinates).
  explicit MainEffect(const Eigen::VectorXd& coordinates);

  // Of the last `rows` points with the j-th of `other`: adds `weight` times the correlation to `sum`, and a^2 to `squares`.
  void AddCorrelation(Eigen::Index rows,
                      const MainEffect& other,
                      Eigen::Index j,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> squares) const;
  // Of all points with one at `coordinate`: the same, and writes `weight` times the correlation's slope
  // h = (5/3) (1 + a) e^-a to `slope` (ToCorrelation).  REQUIRES: Holds(coordinate).
  void AddCorrelation(double coordinate,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> squares,
                      Eigen::Ref<Eigen::ArrayXd> slope) const;
  // Of the last points with the j-th, as many as there are weights: the sums of a^2, weighted by `of_squares`, and of the
  // correlation's derivative by ln of the length scale, a^2 (1 + a) e^-a / 3, weighted by `of_derivatives`.
  struct Sums {
    double squares;
    double derivatives;
  };
  Sums WeightedSums(Eigen::Index j,
                    const Eigen::Ref<const Eigen::ArrayXd>& of_squares,
                    const Eigen::Ref<const Eigen::ArrayXd>& of_derivatives) const;

 private:
  template <typename Visit>
  void ForEach(
      Eigen::Index rows, double t, double rising, double falling, const Visit& visit) const;

  Eigen::ArrayXd t_;
  Eigen::ArrayXd rising_;   // e^t
  Eigen::ArrayXd falling_;  // e^-t
};

}  // namespace vernier::gp
