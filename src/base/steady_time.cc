#include "src/base/steady_time.h"

#include <algorithm>

namespace vernier::base {
namespace {

// Inverse of the rate of correction. A choice: durations are off by 5 % at most, and an hour is corrected in 20 hours.
constexpr int kSlowness = 20;

}  // namespace

absl::Time SteadyTime::At(absl::Time system, absl::Duration elapsed) {
  const absl::Duration passed = elapsed - elapsed_;
  elapsed_ = elapsed;
  if (last_ == absl::InfinitePast()) return last_ = system;
  const absl::Time expected = last_ + passed;
  const absl::Duration most = passed / kSlowness;
  last_ = expected + std::clamp(system - expected, -most, most);
  return last_;
}

}  // namespace vernier::base
