#pragma once

#include <cstdint>

namespace vernier::service {

// Memory of this process that is in RAM; 0 if the system does not say.
std::int64_t ResidentBytes();

}  // namespace vernier::service
