#pragma once

#include <array>
#include <span>
#include <vector>

#include "Eigen/Core"

namespace vernier::gp {

// Monotone map of objective values to targets that a Gaussian process models well. Objectives differ in which map that
// is; the trials choose (model_choice.h).
//
// Half-rank (as in Vizier): replaces values below the median m by m + s Phi^-1(0.5 (rank - 0.5) / D). The rank is dense
// from the worst, D the number of different values below m (a half more if m is a value), and s the root mean square of
// the upper half's distances from m. Values from the median up keep their distances, so that one very poor trial does
// not compress the good ones.
//
// Power: the transformation of Yeo and Johnson (2000) of the values' z-scores, with the exponent in [-3, 5] that is
// most likely for normal targets. Changes distances in the good half, too.
enum class Warp { kHalfRank, kPower };
inline constexpr std::array<Warp, 2> kWarps = {Warp::kHalfRank, Warp::kPower};

// Conversion of objective values to targets and back: larger is better, warped, then standardised to mean 0 and
// variance 1. Finite for all finite values.
class TargetScale {
 public:
  // REQUIRES: `values` are finite; larger is better.
  TargetScale(std::span<const double> values, Warp warp);

  // Target of a value: the warp at the values given, linear between them and beyond them.
  double Forward(double value) const;
  // Value of a target: the inverse of Forward, increasing. Beyond the values given it is a straight line with the slope
  // between the best two, so that a prediction better than all trials has a plausible size. If all values given are the
  // same, returns that value: nothing is known about the size of differences. Clamped to finite numbers.
  double Backward(double target) const;
  // Backward in multiples of unit(): differences and sums of large values then do not overflow.
  double BackwardInUnits(double target) const;
  // A power of two of the size of the values.
  double unit() const { return unit_; }
  // Whether all values given are the same.
  bool is_flat() const { return values_.size() == 1; }

  // Targets of `values`, in their order.
  Eigen::VectorXd Targets(std::span<const double> values) const;

 private:
  // Distinct values, divided by unit_, and their targets; both strictly ascending.
  std::vector<double> values_;
  std::vector<double> targets_;
  double slope_ = 1;  // d target / d value between the best two.
  double unit_ = 1;   // Values are divided by this, so that squares of 1e300 do not overflow.
};

// Clamps to the range of finite numbers.
double Finite(double value);

}  // namespace vernier::gp
