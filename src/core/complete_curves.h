#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vernier/early_stopper.h"

namespace vernier {

// The curves of trials that ended by themselves, with two values or more: those that show how curves go on.
std::vector<const Curve*> CompleteCurves(std::span<const Curve> curves);

// Usual number of reports of these trials: their median. 0: there is none.
std::int64_t UsualReports(std::span<const Curve* const> complete);

}  // namespace vernier
