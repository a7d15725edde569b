#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vernier/core/space.h"

namespace vernier {

// The number of points that parameters and conditions admit. Nothing if it is infinite, beyond 2^62, or if the conditions
// are so entangled that counting would take too long.
// REQUIRES: validated parameters; `parents_first` orders them.
std::optional<std::int64_t> CountPoints(const std::vector<Parameter>& parameters,
                                        std::span<const int> parents_first);

}  // namespace vernier
