#pragma once

#include <span>
#include <vector>

#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/posterior.h"

namespace vernier::gp {

// ln of the expected gain of hypervolume over a decomposition, with independent objectives (Emmerich, Giannakoglou and
// Naujoks, 2006). With psi_j(t) = E max(y_j - t, 0),
//   E = sum over boxes of prod_j (psi_j(lower_j) - psi_j(upper_j)),
// since the integral of P(y_j > t) over [lower, upper] is psi_j(lower) - psi_j(upper). For one objective E is the
// expected improvement over the reference. All terms are logarithms, so that there is a slope everywhere (as Ament et
// al., 2023, have it for one objective).
struct LogHypervolumeGain {
  double value = 0;
  std::vector<double> by_mean;      // d value / d mean_j
  std::vector<double> by_variance;  // d value / d variance_j
};

// `predictions`: of each objective at the point.
double LogExpectedHypervolumeGain(const BoxDecomposition& improvement,
                                  std::span<const Prediction> predictions);
LogHypervolumeGain LogExpectedHypervolumeGainWithGradient(const BoxDecomposition& improvement,
                                                          std::span<const Prediction> predictions);

}  // namespace vernier::gp
