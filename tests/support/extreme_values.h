#pragma once

#include <cstdint>
#include <limits>

// Values at the edge of what is allowed, and sizes, of many tests.
namespace vernier::testing {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

}  // namespace vernier::testing
