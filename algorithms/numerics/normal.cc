#include "algorithms/numerics/normal.h"

#include <cmath>
#include <numbers>

namespace vernier::numerics {
namespace {

// Where the method changes: below it, phi + z Phi loses a factor of z^2 in accuracy by cancellation, and the continued
// fraction converges in kFractionTerms terms.
constexpr double kTail = -5.0;
// ln(sqrt(2 pi)).
constexpr double kLogSqrtTwoPi = 0.91893853320467274178;
constexpr int kFractionTerms = 32;

// Returns c in Phi(-t) / phi(t) = 1 / (t + c), where c = 1 / (t + 2 / (t + 3 / (t + …))): Laplace's continued fraction
// of Mills' ratio.  REQUIRES: t >= 5, where 32 terms are exact to the last bit of a double.
double MillsRemainder(double t) {
  double c = 0.0;
  for (int k = kFractionTerms; k >= 1; --k) c = k / (t + c);
  return c;
}

}  // namespace

double NormalPdf(double z) {
  return std::exp(-0.5 * z * z) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
}

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

LogCdf LogNormalCdf(double z) {
  if (z > kTail) {
    const double cdf = NormalCdf(z);
    // Above 0, Phi is close to 1, and its logarithm keeps more digits if computed from the upper tail.
    const double value = z > 0 ? std::log1p(-NormalCdf(-z)) : std::log(cdf);
    return {.value = value, .slope = NormalPdf(z) / cdf};
  }
  const double denominator = -z + MillsRemainder(-z);
  return {.value = -0.5 * z * z - kLogSqrtTwoPi - std::log(denominator), .slope = denominator};
}

LogImprovement LogExpectedImprovement(double z) {
  if (z > kTail) {
    const double pdf = NormalPdf(z);
    const double cdf = NormalCdf(z);
    const double h = pdf + z * cdf;
    return {.value = std::log(h), .cdf_ratio = cdf / h, .density_ratio = pdf / h};
  }
  // h / phi = 1 - t / (t + c) = c / (t + c): simplified before evaluation, since the difference would cancel.
  const double t = -z;
  const double c = MillsRemainder(t);
  return {.value = -0.5 * z * z - kLogSqrtTwoPi + std::log(c) - std::log(t + c),
          .cdf_ratio = 1.0 / c,
          .density_ratio = (t + c) / c};
}

}  // namespace vernier::numerics
