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

  // Of the last `rows` points with the j-th of `other`: adds `weight` times the correlation to `sum`.
  void AddCorrelation(Eigen::Index rows,
                      const MainEffect& other,
                      Eigen::Index j,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum) const;
  // Also writes `weight` times its derivative by ln of the length scale, a^2 (1 + a) e^-a / 3.
  void AddCorrelation(Eigen::Index rows,
                      const MainEffect& other,
                      Eigen::Index j,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> slope) const;
  // Of all points with one at `coordinate`: adds `weight` times the correlation to `sum`, and writes `weight` times its slope
  // h = (5/3) (1 + a) e^-a to `slope` (ToCorrelation).  REQUIRES: Holds(coordinate).
  void AddCorrelation(double coordinate,
                      double weight,
                      Eigen::Ref<Eigen::ArrayXd> sum,
                      Eigen::Ref<Eigen::ArrayXd> slope) const;

 private:
  template <typename Visit>
  void ForEach(
      Eigen::Index rows, double t, double rising, double falling, const Visit& visit) const;

  Eigen::ArrayXd t_;
  Eigen::ArrayXd rising_;   // e^t
  Eigen::ArrayXd falling_;  // e^-t
};

}  // namespace vernier::gp
