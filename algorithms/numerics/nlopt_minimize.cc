#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "algorithms/numerics/minimize.h"
#include "nlopt.h"

namespace vernier::numerics {
namespace {

// The value that NLopt gets for a point that is not allowed: worse than any real one, but finite, since its line
// searches interpolate.
constexpr double kForbidden = 1e30;

nlopt_algorithm Native(NloptAlgorithm algorithm) {
  switch (algorithm) {
    case NloptAlgorithm::kSlsqp:
      return NLOPT_LD_SLSQP;
    case NloptAlgorithm::kLbfgs:
      return NLOPT_LD_LBFGS;
    case NloptAlgorithm::kMma:
      return NLOPT_LD_MMA;
  }
  return NLOPT_LD_SLSQP;
}

// Records the best point: some of NLopt's algorithms return their last one when the number of evaluations is spent.
struct Recorder {
  SmoothFunction f;
  int max_evaluations;
  std::stop_token stop;
  Minimum best;
  nlopt_opt search = nullptr;           // Not owned.
  std::vector<double> unread_gradient;  // For calls without a gradient.

  double Evaluate(unsigned n, const double* x, double* gradient) {
    const std::span<double> out(gradient != nullptr ? gradient : unread_gradient.data(), n);
    if (best.evaluations >= max_evaluations || stop.stop_requested()) {
      // NLopt checks its own limit between steps only, and a step may take several evaluations.
      nlopt_force_stop(search);
      std::fill(out.begin(), out.end(), 0.0);
      return kForbidden;
    }
    const double value = f({x, n}, out);
    ++best.evaluations;
    if (!std::isfinite(value)) {
      std::fill(out.begin(), out.end(), 0.0);
      return kForbidden;
    }
    if (value < best.value) {
      best.value = value;
      best.x.assign(x, x + n);
    }
    return value;
  }
};

double Trampoline(unsigned n, const double* x, double* gradient, void* recorder) {
  return static_cast<Recorder*>(recorder)->Evaluate(n, x, gradient);
}

struct Destroy {
  void operator()(nlopt_opt search) const { nlopt_destroy(search); }
};

}  // namespace

// Uses NLopt's C interface, which throws nothing.
Minimum MinimizeNlopt(NloptAlgorithm algorithm,
                      SmoothFunction f,
                      std::span<const double> start,
                      const Box& box,
                      const StopRule& rule) {
  std::vector<double> x(start.begin(), start.end());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::clamp(x[i], box.lower[i], box.upper[i]);
  Recorder recorder{.f = f,
                    .max_evaluations = std::max(rule.max_evaluations, 1),
                    .stop = rule.stop,
                    .best = {.x = x, .value = std::numeric_limits<double>::infinity()},
                    .unread_gradient = std::vector<double>(x.size())};
  const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, Destroy> search(
      nlopt_create(Native(algorithm), static_cast<unsigned>(x.size())));
  if (search == nullptr || x.empty()) {
    recorder.Evaluate(static_cast<unsigned>(x.size()), x.data(), nullptr);
    return recorder.best;
  }
  recorder.search = search.get();
  nlopt_set_min_objective(search.get(), Trampoline, &recorder);
  nlopt_set_lower_bounds(search.get(), box.lower.data());
  nlopt_set_upper_bounds(search.get(), box.upper.data());
  nlopt_set_ftol_rel(search.get(), rule.value_tolerance);
  nlopt_set_maxeval(search.get(), rule.max_evaluations);
  double value = 0;
  // The result is ignored: the recorder has the best point whatever the code is, and a failure is only an early end.
  nlopt_optimize(search.get(), x.data(), &value);
  return recorder.best;
}

}  // namespace vernier::numerics
