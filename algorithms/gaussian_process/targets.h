#pragma once

#include <span>
#include <vector>

#include "Eigen/Core"

namespace vernier::gp {

// Objective values as the model sees them, and back: larger is better, outliers on the bad side are tamed, mean 0,
// variance 1.
//
// Half-rank warp (as in Vizier): values below the median are replaced by m + s Phi^-1(0.5 (rank - 0.5) / D), rank being
// dense from the worst, D the number of different values below the median m (a half more if the median is a value), and
// s the root mean square of the upper half's distances from m. Values from the median up keep their distances, so a
// terrible trial cannot flatten the good ones. Then a z-score. Finite for all finite values, whatever their size.
class TargetScale {
 public:
  // REQUIRES: `values` are finite; larger is better.
  explicit TargetScale(std::span<const double> values);

  // A value as the model sees it: the warp itself at the values given, between them linear.
  double Forward(double value) const;
  // The inverse, strictly increasing; beyond the values given it continues as the upper half's straight line, so that a
  // prediction better than anything seen has its natural size.
  double Backward(double target) const;

  // The targets of the values given, in their order.
  Eigen::VectorXd Targets(std::span<const double> values) const;

 private:
  // Ascending, strictly: value in the user's units (scaled by a power of two), and what the model sees.
  std::vector<double> values_;
  std::vector<double> targets_;
  double slope_ = 1;  // d target / d value of the upper half.
  double unit_ = 1;   // Values are divided by this, so that squares of 1e300 do not overflow.
};

}  // namespace vernier::gp
