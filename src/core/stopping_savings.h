#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/time/time.h"
#include "vernier/core/trial.h"

namespace vernier {

// What a study's stopping rule has saved, as far as it can be estimated.
struct StoppingSavings {
  std::int64_t stopped = 0;  // Number of trials that the rule stopped.
  // Whether the rest is known: at least one trial with measurements completed by itself.
  bool is_known = false;
  absl::Duration time;      // Time that the stopped trials would have taken in addition.
  absl::Duration gpu_time;  // GPU time of it, summed over GPUs.
  double share = 0;         // `time` as a share of the time that all ended trials would have taken.
};

// Estimates the savings from a study's trials. A stopped trial would have made as many measurements as usual (the median over
// trials that completed by themselves). It saved the rest of their usual time, or, if that is more, the missing
// measurements at its own pace, which does not count the shortest time of any trial: starting takes that. Trials that a
// user stopped save nothing.
StoppingSavings EstimateSavings(std::span<const Trial> trials);

}  // namespace vernier
