#pragma once

#include <cstdint>
#include <string>

namespace vernier::launch {

// The current time as "2026-11-21T04:12:13.123456Z".
std::string TimeStamp();

// Milliseconds of the monotonic clock, which setting the system's clock does not change.
std::int64_t MonotonicMs();

}  // namespace vernier::launch
