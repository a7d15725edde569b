#pragma once

#include <cstdint>
#include <string>

namespace vernier::launch {

// "2026-11-21T04:12:13.123456Z": now.
std::string TimeStamp();

// Milliseconds of a clock that nobody sets.
std::int64_t MonotonicMs();

}  // namespace vernier::launch
