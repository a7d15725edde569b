#pragma once

namespace vernier {

// Returns the quantile of the standard normal distribution at probability p, to about 16 digits.  REQUIRES: 0 < p < 1.
double InverseNormal(double p);

}  // namespace vernier
