#include "algorithms/gaussian_process/acquisition/expected_hypervolume.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "algorithms/numerics/normal.h"

// Products are sums of logarithms, and sums of products are taken relative to the largest one, so that nothing
// underflows far from the front. The order of all sums is fixed.
namespace vernier::gp {
namespace {

// ln psi at a level, or ln of a difference of two, and its derivatives by the prediction.
struct Term {
  double log = -std::numeric_limits<double>::infinity();
  double by_mean = 0;
  double by_variance = 0;
};

// psi(t) = deviation h((mean - t) / deviation) with h(z) = phi(z) + z Phi(z); psi(infinity) = 0.
Term At(double level, const Prediction& p) {
  if (std::isinf(level)) return {};
  const double deviation = std::sqrt(p.variance);
  const numerics::LogImprovement h = numerics::LogExpectedImprovement((p.mean - level) / deviation);
  return {.log = h.value + std::log(deviation),
          .by_mean = h.cdf_ratio / deviation,
          .by_variance = 0.5 * h.density_ratio / p.variance};
}

// ln(psi(lower) - psi(upper)), where psi decreases. Levels that are equal within rounding leave the smallest positive
// number instead of 0, which has no logarithm.
Term Between(const Term& lower, const Term& upper) {
  if (std::isinf(upper.log)) return lower;
  const double ratio = std::exp(upper.log - lower.log);
  const double rest = std::max(1.0 - ratio, std::numeric_limits<double>::min());
  return {.log = lower.log + std::log(rest),
          .by_mean = (lower.by_mean - ratio * upper.by_mean) / rest,
          .by_variance = (lower.by_variance - ratio * upper.by_variance) / rest};
}

// The only level of a single objective: its one box reaches from here to infinity.
double OnlyLevel(const BoxDecomposition& improvement) {
  return improvement.levels[0][improvement.boxes[0][0].lower];
}

// Factors of each box's product: by objective, then box. Each level's term is computed once and used by many boxes.
std::vector<std::vector<Term>> Factors(const BoxDecomposition& improvement,
                                       std::span<const Prediction> predictions) {
  std::vector<std::vector<Term>> factors(predictions.size());
  std::vector<Term> terms;
  for (std::size_t j = 0; j < predictions.size(); ++j) {
    terms.clear();
    for (const double level : improvement.levels[j]) terms.push_back(At(level, predictions[j]));
    factors[j].reserve(improvement.boxes[j].size());
    for (const BoxDecomposition::Side side : improvement.boxes[j]) {
      factors[j].push_back(Between(terms[side.lower], terms[side.upper]));
    }
  }
  return factors;
}

// Logarithm of each box's product.
std::vector<double> LogProducts(const std::vector<std::vector<Term>>& factors) {
  std::vector<double> logs(factors.front().size(), 0.0);
  for (const std::vector<Term>& of_objective : factors) {
    for (std::size_t b = 0; b < logs.size(); ++b) logs[b] += of_objective[b].log;
  }
  return logs;
}

}  // namespace

double LogExpectedHypervolumeGain(const BoxDecomposition& improvement,
                                  std::span<const Prediction> predictions) {
  if (predictions.size() == 1) return At(OnlyLevel(improvement), predictions[0]).log;
  const std::vector<double> logs = LogProducts(Factors(improvement, predictions));
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

LogHypervolumeGain LogExpectedHypervolumeGainWithGradient(const BoxDecomposition& improvement,
                                                          std::span<const Prediction> predictions) {
  if (predictions.size() == 1) {
    const Term term = At(OnlyLevel(improvement), predictions[0]);
    return {.value = term.log, .by_mean = {term.by_mean}, .by_variance = {term.by_variance}};
  }
  const std::vector<std::vector<Term>> factors = Factors(improvement, predictions);
  const std::vector<double> logs = LogProducts(factors);
  const double largest = *std::max_element(logs.begin(), logs.end());
  // d ln E = sum over boxes of (product / E) d ln product.
  LogHypervolumeGain gain{.value = 0,
                          .by_mean = std::vector<double>(predictions.size(), 0.0),
                          .by_variance = std::vector<double>(predictions.size(), 0.0)};
  double sum = 0;
  for (std::size_t b = 0; b < logs.size(); ++b) {
    const double weight = std::exp(logs[b] - largest);
    sum += weight;
    for (std::size_t j = 0; j < factors.size(); ++j) {
      gain.by_mean[j] += weight * factors[j][b].by_mean;
      gain.by_variance[j] += weight * factors[j][b].by_variance;
    }
  }
  for (double& slope : gain.by_mean) slope /= sum;
  for (double& slope : gain.by_variance) slope /= sum;
  gain.value = largest + std::log(sum);
  return gain;
}

}  // namespace vernier::gp
