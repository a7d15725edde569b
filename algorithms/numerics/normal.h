#pragma once

// The standard normal distribution, with density phi and distribution function Phi, also in the tails, where the
// textbook formulae lose digits.
//
// The logarithmic functions are accurate to about 1e-14 (relative) for every finite argument, and continuous to that
// accuracy where the method changes.
namespace vernier::numerics {

double NormalPdf(double z);
double NormalCdf(double z);

// The logarithm of the distribution function.
struct LogCdf {
  double value;  // ln Phi(z)
  double slope;  // Its derivative, phi(z) / Phi(z)
};
LogCdf LogNormalCdf(double z);

// The logarithm of h(z) = phi(z) + z Phi(z), the expected improvement of a standard normal variable over -z, with the
// ratios that its derivatives need.
struct LogImprovement {
  double value;          // ln h
  double cdf_ratio;      // Phi / h, the derivative of ln h
  double density_ratio;  // phi / h = 1 - z Phi / h, computed without cancellation
};
LogImprovement LogExpectedImprovement(double z);

}  // namespace vernier::numerics
