#include "algorithms/gaussian_process/model/targets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "src/core/inverse_normal.h"

// Warps of the objective (targets.h). On average a warp alone, or none, costs 0.01 at 60 trials; on single families of
// functions the wrong one costs 0.03 to 0.04 (docs/research/parts_of_the_model.md). A warp is fitted to the distinct
// values, monotone, exact at the trials and interpolated in between, so that predictions can be mapped back to the
// user's units.
namespace vernier::gp {
namespace {

double Median(const std::vector<double>& ascending) {
  const std::size_t n = ascending.size();
  return n % 2 == 1 ? ascending[n / 2] : 0.5 * (ascending[n / 2 - 1] + ascending[n / 2]);
}

// Largest power of two not above the largest magnitude: dividing by it is exact.
double UnitOf(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return 1.0;
  return std::ldexp(1.0, std::min(std::ilogb(largest), 1000));
}

// Root mean square distance from the median of the half that keeps its distances.
double UpperSpread(const std::vector<double>& distinct, double median) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : distinct) {
    if (value < median) continue;
    sum += (value - median) * (value - median);
    ++count;
  }
  if (sum > 0) return std::sqrt(sum / static_cast<double>(count));
  // All values from the median up are the same: use the distance to the next lower value.
  const auto at = std::lower_bound(distinct.begin(), distinct.end(), median);
  return at == distinct.begin() ? 1.0 : median - *(at - 1);
}

// Half-rank warp of distinct ascending values; strictly ascending, too.
std::vector<double> HalfRank(const std::vector<double>& distinct, double median) {
  const double spread = UpperSpread(distinct, median);
  const auto first_upper = std::lower_bound(distinct.begin(), distinct.end(), median);
  const auto below = static_cast<std::size_t>(first_upper - distinct.begin());
  const bool median_is_value = first_upper != distinct.end() && *first_upper == median;
  const double ranks = static_cast<double>(below) + (median_is_value ? 0.5 : 0.0);
  std::vector<double> warped = distinct;
  for (std::size_t i = 0; i < below; ++i) {
    const double share = 0.5 * (static_cast<double>(i) + 0.5) / ranks;
    warped[i] = median + spread * InverseNormal(share);
  }
  return warped;
}

// Transformation of Yeo and Johnson (2000) at the z-scores of the values, with exponent e:
//   ((z + 1)^e - 1) / e for z >= 0,  -((1 - z)^(2 - e) - 1) / (2 - e) below; logarithms where an exponent is 0.
class PowerTransform {
 public:
  explicit PowerTransform(const std::vector<double>& values)
      : z_(Eigen::Map<const Eigen::ArrayXd>(values.data(),
                                            static_cast<Eigen::Index>(values.size()))) {
    z_ -= z_.mean();
    const double deviation = std::sqrt(z_.square().mean());
    if (deviation > 0) z_ /= deviation;
    sign_ = z_.sign();
    log_ = z_.abs().log1p();
  }

  Eigen::ArrayXd At(double exponent) const {
    const Eigen::ArrayXd above = Raised(exponent);
    const Eigen::ArrayXd below = -Raised(2.0 - exponent);
    return (z_ >= 0).select(above, below);
  }

  // ln likelihood of the z-scores, up to a constant, if their transforms are normal: -n/2 ln variance plus ln of the
  // Jacobian, (e - 1) sum sign(z) ln(1 + |z|).
  double LogLikelihood(double exponent) const {
    const Eigen::ArrayXd t = At(exponent);
    const double variance = (t - t.mean()).square().mean();
    return -0.5 * static_cast<double>(t.size()) * std::log(variance) +
           (exponent - 1.0) * (sign_ * log_).sum();
  }

 private:
  // ((1 + |z|)^e - 1) / e.
  Eigen::ArrayXd Raised(double exponent) const {
    if (std::abs(exponent) < 1e-9) return log_;
    return ((exponent * log_).exp() - 1.0) / exponent;
  }

  Eigen::ArrayXd z_;
  Eigen::ArrayXd sign_;
  Eigen::ArrayXd log_;  // ln(1 + |z|)
};

// Power warp of distinct ascending values; strictly ascending, too. The exponent is found on a grid of steps of 0.1: a
// choice, fine enough for a warp, and free of a search's tolerances. 1, the middle of the range, leaves values as they
// are.
std::vector<double> Power(const std::vector<double>& distinct) {
  constexpr int kSteps = 80;
  const PowerTransform transform(distinct);
  double best = 1.0;
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kSteps; ++i) {
    const double exponent = -3.0 + 8.0 * i / kSteps;
    const double likelihood = transform.LogLikelihood(exponent);
    if (likelihood > most) {
      most = likelihood;
      best = exponent;
    }
  }
  const Eigen::ArrayXd warped = transform.At(best);
  return {warped.begin(), warped.end()};
}

std::vector<double> Warped(const std::vector<double>& distinct, double median, Warp warp) {
  // Two values are a straight line whatever the exponent.
  return warp == Warp::kPower && distinct.size() > 2 ? Power(distinct) : HalfRank(distinct, median);
}

}  // namespace

TargetScale::TargetScale(std::span<const double> values, Warp warp) : unit_(UnitOf(values)) {
  std::vector<double> sorted(values.begin(), values.end());
  for (double& value : sorted) value /= unit_;
  std::sort(sorted.begin(), sorted.end());
  values_ = sorted;
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  if (values_.empty()) return;
  targets_ = Warped(values_, Median(sorted), warp);

  double sum = 0;
  double squares = 0;
  const auto warped_at = [this](double value) {
    const auto at = std::lower_bound(values_.begin(), values_.end(), value) - values_.begin();
    return targets_[static_cast<std::size_t>(at)];
  };
  for (const double value : sorted) sum += warped_at(value);
  const double mean = sum / static_cast<double>(sorted.size());
  for (const double value : sorted) squares += std::pow(warped_at(value) - mean, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(sorted.size()));
  const double scale = deviation > 0 ? 1.0 / deviation : 1.0;
  for (double& target : targets_) target = scale * (target - mean);
  slope_ = scale;
  const std::size_t last = values_.size() - 1;
  if (last > 0) {
    const double rise = targets_[last] - targets_[last - 1];
    if (rise > 0) slope_ = rise / (values_[last] - values_[last - 1]);
  }
}

double TargetScale::Forward(double value) const {
  const double v = value / unit_;
  if (values_.empty()) return v;
  if (v >= values_.back()) return targets_.back() + slope_ * (v - values_.back());
  if (v <= values_.front()) return targets_.front() + slope_ * (v - values_.front());
  const auto above = static_cast<std::size_t>(std::upper_bound(values_.begin(), values_.end(), v) -
                                              values_.begin());
  const double share = (v - values_[above - 1]) / (values_[above] - values_[above - 1]);
  return targets_[above - 1] + share * (targets_[above] - targets_[above - 1]);
}

double TargetScale::Backward(double target) const {
  return Finite(unit_ * BackwardInUnits(target));
}

double TargetScale::BackwardInUnits(double target) const {
  if (values_.empty()) return target;
  if (is_flat()) return values_.front();
  if (target >= targets_.back()) {
    return Finite(values_.back() + (target - targets_.back()) / slope_);
  }
  if (target <= targets_.front()) {
    return Finite(values_.front() + (target - targets_.front()) / slope_);
  }
  const auto above = static_cast<std::size_t>(
      std::upper_bound(targets_.begin(), targets_.end(), target) - targets_.begin());
  const double share = (target - targets_[above - 1]) / (targets_[above] - targets_[above - 1]);
  return values_[above - 1] + share * (values_[above] - values_[above - 1]);
}

Eigen::VectorXd TargetScale::Targets(std::span<const double> values) const {
  Eigen::VectorXd targets(static_cast<Eigen::Index>(values.size()));
  for (Eigen::Index i = 0; i < targets.size(); ++i) {
    targets[i] = Forward(values[static_cast<std::size_t>(i)]);
  }
  return targets;
}

double Finite(double value) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::clamp(value, -kLargest, kLargest);
}

}  // namespace vernier::gp
