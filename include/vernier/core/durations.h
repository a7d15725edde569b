#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace vernier {

// How long something took of late: in the last five minutes.
struct Durations {
  std::int64_t count = 0;
  absl::Duration mean;
  absl::Duration longest;
  friend bool operator==(const Durations&, const Durations&) = default;
};

}  // namespace vernier
