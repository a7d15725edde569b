#pragma once

#include "absl/time/time.h"

namespace vernier::base {

// The time of day without the jumps of the system's clock, so that differences of two readings are durations. It
// advances with the elapsed time. After the system's clock was set forward or back, it approaches that clock by one
// twentieth of the time that passes. It never decreases. Not thread-safe.
class SteadyTime {
 public:
  // `system`: the system's clock. `elapsed`: time since a fixed moment; must not decrease.
  absl::Time At(absl::Time system, absl::Duration elapsed);

 private:
  absl::Time last_ = absl::InfinitePast();
  absl::Duration elapsed_;
};

}  // namespace vernier::base
