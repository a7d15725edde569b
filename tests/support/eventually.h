#pragma once

#include <functional>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace vernier::testing {

// How long a test waits for what takes a moment. A busy machine must not make it fail.
inline constexpr absl::Duration kPatience = absl::Seconds(60);

// Whether `condition` comes to hold in time.
inline bool Eventually(const std::function<bool()>& condition,
                       absl::Duration patience = kPatience) {
  constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
  const absl::Time deadline = absl::Now() + patience;
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(kPollInterval);
  }
  return true;
}

}  // namespace vernier::testing
