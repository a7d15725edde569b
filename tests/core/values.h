#pragma once

#include <cstdint>
#include <string>

#include "vernier/core/space.h"

namespace vernier::testing {

// Values of parameters whose kind is plain to see.
inline ParameterValue Text(const char* text) { return std::string(text); }
inline ParameterValue Int(std::int64_t value) { return value; }

}  // namespace vernier::testing
