#pragma once

#include "Eigen/Core"

namespace vernier::gp {

// Length scales of the main effects, as a share of the joint part's (kernel.h). Halved scales scored 0.008 more than
// equal ones at 60 trials, within noise (docs/adr/0012).
inline constexpr double kMainReach = 0.5;

// Main effect of one number at some points: Matern's correlation c(a) = (1 + a + a^2/3) e^-a of their distances
// a = |t - t'|. Here t is the coordinate, divided by the length scale, times sqrt(5) / kMainReach.
//
// e^-|t - t'| is the lesser of e^t' e^-t and e^-t' e^t. One pair of exponentials for each point is therefore enough for
// all pairs of points.
class MainEffect {
 public:
  // Whether the coordinates, divided by the length scale, are small enough: neither exponential overflows, and their
  // products stay normal numbers.
  static bool Holds(const Eigen::VectorXd& coordinates);

  static bool Holds(double coordinate);

  // `coordinates`: n, divided by the length scale.  REQUIRES: Holds(coordinates).
  explicit MainEffect(const Eigen::VectorXd& coordinates);

  // Pairs the last `rows` points with the j-th point of `other`: adds `weight` times the correlation to `sum`, and a^2
  // to `squares`, both of length `rows`.
  void AddCorrelation(Eigen::Index rows,
                      const MainEffect& other,
                      Eigen::Index j,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> squares) const;
  // Pairs all points with one at `coordinate`: the same, and writes `weight` times the correlation's slope
  // h = (5/3) (1 + a) e^-a to `slope` (ToCorrelation).  REQUIRES: Holds(coordinate).
  void AddCorrelation(double coordinate,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> squares,
                      Eigen::Ref<Eigen::ArrayXd> slope) const;
  // Pairs the last points, one for each weight, with the j-th: the sum of a^2 weighted by `of_squares`, and that of the
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
