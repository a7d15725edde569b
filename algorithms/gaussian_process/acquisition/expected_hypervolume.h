#pragma once

#include <span>
#include <vector>

#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/posterior.h"

namespace vernier::gp {

// ln of the expected gain of hypervolume over a decomposition, objectives being independent given the point (Emmerich,
// Giannakoglou and Naujoks, 2006): with psi_j(t) = E max(y_j - t, 0),
//   E = sum over boxes of prod_j (psi_j(lower_j) - psi_j(upper_j)),
// as the integral of P(y_j > t) over [lower, upper] is psi_j(lower) - psi_j(upper). For one objective that is the expected
// improvement over the reference. In logarithms throughout, so that it has a slope wherever it is evaluated (as Ament et
// al., 2023, do for one objective).
struct LogHypervolumeGain {
  double value = 0;
  std::vector<double> by_mean;      // d value / d mean_j
  std::vector<double> by_variance;  // d value / d variance_j
};

double LogExpectedHypervolumeGain(const BoxDecomposition& improvement,
                                  std::span<const Prediction> predictions);
LogHypervolumeGain LogExpectedHypervolumeGainWithGradient(const BoxDecomposition& improvement,
                                                          std::span<const Prediction> predictions);

}  // namespace vernier::gp
