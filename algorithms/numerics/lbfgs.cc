#include <algorithm>
#include <cmath>
#include <utility>

#include "Eigen/Core"
#include "algorithms/numerics/minimize.h"

namespace vernier::numerics {
namespace {

using Eigen::VectorXd;

// Number of correction pairs. Nocedal and Wright (2006, section 7.2) report 3 to 20 as useful.
constexpr int kMemory = 8;
// Number of lengths that a line search tries, each at most half of the one before. A choice.
constexpr int kMaxHalvings = 20;
// c_1 of the Armijo condition; 1e-4 as in Nocedal and Wright (2006, section 3.1).
constexpr double kSufficientDecrease = 1e-4;
// Smallest cosine between step and change of gradient of a pair that is stored. A choice: pairs without positive
// curvature would make the approximation indefinite.
constexpr double kCurvature = 1e-10;

// The last kMemory steps and changes of gradient, oldest first: the limited-memory approximation of the inverse
// Hessian.
class CorrectionPairs {
 public:
  void Push(const VectorXd& step, const VectorXd& change) {
    const double curvature = step.dot(change);
    if (curvature <= kCurvature * step.norm() * change.norm()) return;
    if (pairs_.size() == kMemory) pairs_.erase(pairs_.begin());
    pairs_.push_back({step, change, 1.0 / curvature});
  }
  void Clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }

  // -H g by the two-loop recursion (Nocedal and Wright, algorithm 7.4), over the free variables only.
  VectorXd Direction(const VectorXd& gradient, const VectorXd& free) const {
    VectorXd q = gradient.cwiseProduct(free);
    std::vector<double> alpha(pairs_.size());
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      alpha[i] = pairs_[i].rho * pairs_[i].step.dot(q);
      q -= alpha[i] * pairs_[i].change;
    }
    // The initial scale of the Hessian (Nocedal and Wright, eq. 7.20).
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      q *= 1.0 / (last.rho * last.change.squaredNorm());
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double beta = pairs_[i].rho * pairs_[i].change.dot(q);
      q += (alpha[i] - beta) * pairs_[i].step;
    }
    return -q.cwiseProduct(free);
  }

 private:
  struct Pair {
    VectorXd step;
    VectorXd change;
    double rho;
  };
  std::vector<Pair> pairs_;
};

// One search: holds the current point, its value and its gradient.
class Descent {
 public:
  Descent(SmoothFunction f, std::span<const double> start, const Box& box, const StopRule& rule)
      : f_(f),
        rule_(rule),
        lower_(Eigen::Map<const VectorXd>(box.lower.data(), box.lower.size())),
        upper_(Eigen::Map<const VectorXd>(box.upper.data(), box.upper.size())) {
    x_ = Project(Eigen::Map<const VectorXd>(start.data(), start.size()));
    gradient_.resize(x_.size());
    value_ = Evaluate(x_, gradient_);
  }

  Minimum Run() {
    while (std::isfinite(value_) && MayEvaluate() && !IsStationary()) {
      const double before = value_;
      if (!Step()) break;
      if (before - value_ <= rule_.value_tolerance * (1.0 + std::abs(before))) break;
    }
    return {.x = {x_.data(), x_.data() + x_.size()}, .value = value_, .evaluations = evaluations_};
  }

 private:
  VectorXd Project(const VectorXd& x) const { return x.cwiseMax(lower_).cwiseMin(upper_); }

  double Evaluate(const VectorXd& x, VectorXd& gradient) {
    ++evaluations_;
    const std::size_t n = static_cast<std::size_t>(x.size());
    return f_({x.data(), n}, {gradient.data(), n});
  }

  bool MayEvaluate() const {
    return evaluations_ < rule_.max_evaluations && !rule_.stop.stop_requested();
  }

  bool IsStationary() const {
    return x_.size() == 0 ||
           (Project(x_ - gradient_) - x_).lpNorm<Eigen::Infinity>() <= rule_.gradient_tolerance;
  }

  // 1 for variables that may move, 0 for those that the gradient pushes against their bound.
  VectorXd FreeVariables() const {
    VectorXd free = VectorXd::Ones(x_.size());
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      const bool held =
          (x_[i] <= lower_[i] && gradient_[i] > 0) || (x_[i] >= upper_[i] && gradient_[i] < 0);
      if (held) free[i] = 0.0;
    }
    return free;
  }

  // Takes one step downhill. False: none was found.
  bool Step() {
    const VectorXd free = FreeVariables();
    VectorXd direction = pairs_.Direction(gradient_, free);
    // The approximation may fail after the set of free variables has changed; then restart from the gradient.
    if (direction.dot(gradient_) >= 0) {
      pairs_.Clear();
      direction = -gradient_.cwiseProduct(free);
    }
    // Without curvature the scale is unknown: limit the first step to 0.3 in each variable. A choice, for unit boxes.
    double length = pairs_.empty() ? std::min(1.0, 0.3 / direction.lpNorm<Eigen::Infinity>()) : 1.0;
    VectorXd trial_gradient(x_.size());
    for (int i = 0; i < kMaxHalvings && MayEvaluate(); ++i) {
      VectorXd trial = Project(x_ + length * direction);
      const double value = Evaluate(trial, trial_gradient);
      const double slope = gradient_.dot(trial - x_);
      if (std::isfinite(value) && value <= value_ + kSufficientDecrease * std::min(slope, 0.0) &&
          value < value_) {
        Accept(std::move(trial), value, trial_gradient);
        return true;
      }
      length *= NextFraction(value, slope);
    }
    return false;
  }

  // The next length as a fraction of the last: the minimum of the parabola through value, slope and trial value,
  // limited to [0.1, 0.5] (safeguarded interpolation; Nocedal and Wright, section 3.5).
  double NextFraction(double value, double slope) const {
    if (!std::isfinite(value)) return 0.25;
    const double curvature = value - value_ - slope;
    if (!(curvature > 0)) return 0.5;
    return std::clamp(-slope / (2.0 * curvature), 0.1, 0.5);
  }

  void Accept(VectorXd x, double value, const VectorXd& gradient) {
    pairs_.Push(x - x_, gradient - gradient_);
    x_ = std::move(x);
    value_ = value;
    gradient_ = gradient;
  }

  const SmoothFunction f_;
  const StopRule rule_;
  const VectorXd lower_;
  const VectorXd upper_;
  VectorXd x_;
  VectorXd gradient_;
  double value_ = 0;
  int evaluations_ = 0;
  CorrectionPairs pairs_;
};

}  // namespace

Minimum MinimizeLbfgs(SmoothFunction f,
                      std::span<const double> start,
                      const Box& box,
                      const StopRule& rule) {
  return Descent(f, start, box, rule).Run();
}

}  // namespace vernier::numerics
