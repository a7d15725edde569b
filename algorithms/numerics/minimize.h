#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "absl/functional/function_ref.h"

namespace vernier::numerics {

// A smooth function: returns its value at `x` and writes its gradient. A value that is not finite means «not here»: the
// searches step back from it, and its gradient is not read.
using SmoothFunction =
    absl::FunctionRef<double(std::span<const double> x, std::span<double> gradient)>;

// lower[i] <= x[i] <= upper[i].
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;
};

// When a local search ends. Counts of work, never time, so that equal arguments give equal bits.
struct StopRule {
  int max_evaluations = 100;
  double value_tolerance = 1e-7;     // Relative change of the value over one step.
  double gradient_tolerance = 1e-5;  // Largest component of the projected gradient.
  // Asked for a stop, a search evaluates nothing more and returns what it has, which then is of no use to who wants equal
  // bits.
  std::stop_token stop = {};
};

struct Minimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
};

// The best point that a descent from `start` (moved into the box) finds. Never worse than the start.
// REQUIRES: f is finite at the start, or the start itself is returned.

// Projected L-BFGS with backtracking (Nocedal and Wright, 2006, algorithms 7.4 and 3.1; projection as in Bertsekas,
// 1982): variables held at a bound by the gradient are left out of the two-loop recursion.
Minimum MinimizeLbfgs(SmoothFunction f,
                      std::span<const double> start,
                      const Box& box,
                      const StopRule& rule);

// NLopt's algorithms that take bounds and a gradient.
enum class NloptAlgorithm {
  kSlsqp,  // Sequential quadratic programming (Kraft, 1994), dense BFGS: for few variables.
  kLbfgs,  // Luksan's limited-memory variable metric method.
  kMma,    // Method of moving asymptotes (Svanberg, 2002).
};
Minimum MinimizeNlopt(NloptAlgorithm algorithm,
                      SmoothFunction f,
                      std::span<const double> start,
                      const Box& box,
                      const StopRule& rule);

}  // namespace vernier::numerics
