#pragma once

#include <array>
#include <span>
#include <vector>

#include "Eigen/Core"

namespace vernier::gp {

// A monotone map of objective values into what a Gaussian process models well. Which one does depends on the objective, and
// the data decide (model_choice.h).
//
// Half-rank (as in Vizier): values below the median are replaced by m + s Phi^-1(0.5 (rank - 0.5) / D), rank being
// dense from the worst, D the number of different values below the median m (a half more if the median is a value), and
// s the root mean square of the upper half's distances from m. Values from the median up keep their distances, so a
// terrible trial cannot flatten the good ones.
//
// Power: the transformation of Yeo and Johnson (2000) of the values' z-scores, its exponent in [-3, 5] the most likely
// one for normal targets. Bends the good half, too.
enum class Warp { kHalfRank, kPower };
inline constexpr std::array<Warp, 2> kWarps = {Warp::kHalfRank, Warp::kPower};

// Objective values as the model sees them, and back: larger is better, warped, then mean 0 and variance 1. Finite for all
// finite values, whatever their size.
class TargetScale {
 public:
  // REQUIRES: `values` are finite; larger is better.
  TargetScale(std::span<const double> values, Warp warp);

  // A value as the model sees it: the warp itself at the values given, between them linear.
  double Forward(double value) const;
  // The inverse, increasing; beyond the values given it continues as a straight line with the slope between the best two,
  // so that a prediction better than anything seen has its natural size. Where all values given are the same, that value:
  // they tell nothing of how much others differ.
  // The largest finite value where it would be larger.
  double Backward(double target) const;
  // Backward in multiples of unit(), so that differences and sums of values of any size do not overflow.
  double BackwardInUnits(double target) const;
  // A power of two.
  double unit() const { return unit_; }
  bool is_flat() const { return values_.size() == 1; }

  // The targets of the values given, in their order.
  Eigen::VectorXd Targets(std::span<const double> values) const;

 private:
  // Ascending, strictly: value in the user's units (scaled by a power of two), and what the model sees.
  std::vector<double> values_;
  std::vector<double> targets_;
  double slope_ = 1;  // d target / d value between the best two.
  double unit_ = 1;   // Values are divided by this, so that squares of 1e300 do not overflow.
};

// The nearest finite number.
double Finite(double value);

}  // namespace vernier::gp
