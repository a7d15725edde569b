#pragma once

#include "absl/time/time.h"

namespace vernier::base {

// The time of day without the jumps of the system's clock, so that differences of two readings are durations: it goes on as
// the counter of elapsed time does, and where the system's clock was put forward or back, it follows at one twentieth of the
// time that passes. It never goes back. Not thread-safe.
class SteadyTime {
 public:
  // `system`: the system's clock. `elapsed`: the time since some moment, never less than before.
  absl::Time At(absl::Time system, absl::Duration elapsed);

 private:
  absl::Time last_ = absl::InfinitePast();
  absl::Duration elapsed_;
};

}  // namespace vernier::base
