#pragma once

namespace vernier {

// The x below which a standard normal variable falls with probability p, to about 16 digits.  REQUIRES: 0 < p < 1.
double InverseNormal(double p);

}  // namespace vernier
