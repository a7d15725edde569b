#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "algorithms/early_stopping/predicted_end.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Predicts how a running trial will end, from its parameters and its curve so far, by Gaussian processes of how other curves
// went on after the same steps. README.md has the formulae. Pure.
//
// `judged`: the part of the running trial's curve to judge, with a finite value at its end. `others`: the curves of the
// study's other trials. Nullopt if none of them is complete, or too few have come as far.
std::optional<PredictedEnd> PredictEnd(const Curve& running,
                                       std::span<const CurvePoint> judged,
                                       std::span<const Curve> others);

}  // namespace vernier
