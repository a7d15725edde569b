#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace vernier {

// Durations of one kind of work in the last five minutes. `mean` and `longest` are 0 if `count` is.
struct Durations {
  std::int64_t count = 0;
  absl::Duration mean;
  absl::Duration longest;
  friend bool operator==(const Durations&, const Durations&) = default;
};

}  // namespace vernier
