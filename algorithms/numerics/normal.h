#pragma once

// The standard normal distribution where its textbook formulae lose digits: the tails.
//
// phi is its density, Phi its distribution function. All functions are accurate to about 1e-14 (relative) for every
// finite argument, and continuous to that accuracy where the method changes.
namespace vernier::numerics {

double NormalPdf(double z);
double NormalCdf(double z);

// ln Phi(z), and its derivative phi(z) / Phi(z).
struct LogCdf {
  double value;
  double slope;
};
LogCdf LogNormalCdf(double z);

// ln h(z) for h(z) = phi(z) + z Phi(z), the expected improvement of a standard normal variable over -z, with what its
// derivatives are made of.
struct LogImprovement {
  double value;          // ln h
  double cdf_ratio;      // Phi / h: d ln h / dz
  double density_ratio;  // phi / h = 1 - z Phi / h, without its cancellation
};
LogImprovement LogExpectedImprovement(double z);

}  // namespace vernier::numerics
