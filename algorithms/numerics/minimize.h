#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "absl/functional/function_ref.h"

namespace vernier::numerics {

// A smooth function: returns the value at `x` and writes the gradient. A value that is not finite means that `x` is not
// allowed: the searches step back, and do not read the gradient.
using SmoothFunction =
    absl::FunctionRef<double(std::span<const double> x, std::span<double> gradient)>;

// Bounds: lower[i] <= x[i] <= upper[i].
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;
};

// When a local search ends. By work, not by time, so that equal arguments give equal bits. The defaults are choices;
// callers set their own (ADR 10).
struct StopRule {
  int max_evaluations = 100;
  double value_tolerance = 1e-7;     // Relative change of the value over one step.
  double gradient_tolerance = 1e-5;  // Largest component of the projected gradient.
  // When it fires, a search evaluates nothing more and returns the best point so far. The result then depends on the
  // time, and must not be used where equal bits are required.
  std::stop_token stop = {};
};

// The result of a search.
struct Minimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
};

// Both functions return the best point of a descent from `start`, which is first moved into the box. The result is
// never worse than the start; if f is not finite there, they return the start.

// Projected L-BFGS with backtracking (Nocedal and Wright, 2006, algorithms 7.4 and 3.1; projection as in Bertsekas,
// 1982): variables that the gradient holds at a bound are excluded from the two-loop recursion. Maximises the
// acquisition function (ADR 10).
Minimum MinimizeLbfgs(SmoothFunction f,
                      std::span<const double> start,
                      const Box& box,
                      const StopRule& rule);

// The algorithms of NLopt with bounds and gradient. kLbfgs fits hyperparameters; ADR 10 compares all of them.
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
