#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vernier/core/space.h"

namespace vernier {

// Counts the points that parameters and conditions allow. nullopt: infinite, more than 2^62, or too expensive to count
// because the conditions are complex.
// REQUIRES: validated parameters; `parents_first` orders them.
std::optional<std::int64_t> CountPoints(const std::vector<Parameter>& parameters,
                                        std::span<const int> parents_first);

}  // namespace vernier
