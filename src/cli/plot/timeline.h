#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/plot/study_data.h"

namespace vernier::plot {

enum class Phase : std::uint8_t { kWaiting, kPreparing, kRunning };
std::string_view PhaseName(Phase phase);

// A period that a trial spent in one phase.
struct Span {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;  // 0: outside of any attempt; trials of clients have none.
  Phase phase = Phase::kWaiting;
  Fate fate = Fate::kOpen;  // For kRunning: how it ended.
  absl::Time from;
  absl::Time to;
};

// The spans of all trials, by number and time. Spans that have not ended extend to study.now.
std::vector<Span> Timeline(const StudyData& study);

// One row for each trial, the first on top. `most`: only the last trials; 0: all. Times are shown in `zone`.
Figure TimelineFigure(const StudyData& study, absl::TimeZone zone, std::size_t most = 0);

}  // namespace vernier::plot
