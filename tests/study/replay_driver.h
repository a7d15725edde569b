#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "vernier/core/clock.h"
#include "vernier/core/rng.h"
#include "vernier/studies.h"

namespace vernier::study {

// Something to optimise: smooth in x, better for "b".
inline double Accuracy(const Point& point) {
  double value = 1;
  if (const auto x = point.find("x"); x != point.end()) {
    const double distance = std::get<double>(x->second) - 0.3;
    value -= distance * distance;
  }
  if (const auto kind = point.find("kind"); kind != point.end()) {
    value += std::get<std::string>(kind->second) == "b" ? 0.5 : 0;
  }
  return value;
}

// Drives a study as several clients would: `parallel` trials at once, in batches, ending out of order, some failing,
// each reporting a curve first. Everything is decided by the seed.
inline absl::Status DriveOutOfOrder(
    Studies& studies, ManualClock& clock, StudyId id, int trials, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Trial> open;
  const auto finish = [&](const Trial& trial) -> absl::Status {
    const LeaseToken token{.holder = trial.lease->holder, .token = trial.lease->token};
    const TrialId trial_id{id, trial.number};
    if (rng.UniformInt(8) == 0) {
      return studies
          .Fail(trial_id, FailureClass::kUserError, "broke", token, {.actor = token.holder})
          .status();
    }
    for (std::int64_t step = 1; step <= 6; ++step) {
      const double value =
          Accuracy(trial.point) * (1 - 1.0 / static_cast<double>(step + 1)) + 0.01 * rng.Uniform();
      clock.Advance(absl::Seconds(1));
      const Measurement measurement{
          .step = step, .time = clock.Now(), .metrics = {{"accuracy", value}}, .source = "client"};
      VERNIER_ASSIGN_OR_RETURN(
          const Studies::Reported reported,
          studies.Report(trial_id, {measurement}, token, {.actor = token.holder}));
      if (reported.stop) break;
    }
    return studies.Complete(trial_id, {}, token, {.actor = token.holder}).status();
  };
  for (int made = 0; made < trials || !open.empty();) {
    if (made < trials && rng.UniformInt(2) == 0) {
      const std::string holder = "w" + std::to_string(made);
      const auto asked = studies.Suggest(id, 1 + rng.UniformInt(2), holder, {.actor = holder}, {});
      if (asked.ok()) {
        made += static_cast<int>(asked->size());
        open.insert(open.end(), asked->begin(), asked->end());
        continue;
      }
      if (absl::IsOutOfRange(asked.status())) made = trials;
    }
    if (open.empty()) continue;
    const auto at = open.begin() + static_cast<std::ptrdiff_t>(rng.UniformInt(open.size()));
    const Trial trial = *at;
    open.erase(at);
    VERNIER_RETURN_IF_ERROR(finish(trial));
  }
  return absl::OkStatus();
}

}  // namespace vernier::study
