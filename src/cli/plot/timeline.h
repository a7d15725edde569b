#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/plot/study_data.h"

namespace vernier::plot {

enum class Phase : std::uint8_t { kWaiting, kPreparing, kRunning };
std::string_view PhaseName(Phase phase);

// A stretch of time that a trial spent in one phase.
struct Span {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;  // 0: outside of any; trials that clients run have none.
  Phase phase = Phase::kWaiting;
  Fate fate = Fate::kOpen;  // With kRunning: how it ended.
  absl::Time from;
  absl::Time to;
};

// Of all trials, in the order of their numbers and of time. What has not ended goes on to study.now.
std::vector<Span> Timeline(const StudyData& study);

// A row for each trial, the first on top. With `most`, only the last trials; 0: all. Moments in `zone`.
Figure TimelineFigure(const StudyData& study, absl::TimeZone zone, std::size_t most = 0);

}  // namespace vernier::plot
