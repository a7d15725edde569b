#include "src/core/stopping_savings.h"

#include <algorithm>
#include <vector>

#include "src/core/stopped_early.h"

namespace vernier {
namespace {

// The median number of measurements of trials that completed by themselves.
std::optional<double> UsualMeasurements(std::span<const Trial> trials) {
  std::vector<std::int64_t> counts;
  for (const Trial& trial : trials) {
    // Results from elsewhere were added without measurements.
    const bool is_whole = trial.state == TrialState::kCompleted && !trial.stop.has_value();
    if (is_whole && trial.measurements > 0) counts.push_back(trial.measurements);
  }
  if (counts.empty()) return std::nullopt;
  std::ranges::sort(counts);
  const std::size_t middle = counts.size() / 2;
  if (counts.size() % 2 == 1) return static_cast<double>(counts[middle]);
  return static_cast<double>(counts[middle - 1] + counts[middle]) / 2;
}

absl::Duration TimeOf(const Trial& trial) {
  if (!trial.started || !trial.ended) return absl::ZeroDuration();
  return std::max(absl::ZeroDuration(), *trial.ended - *trial.started);
}

}  // namespace

StoppingSavings EstimateSavings(std::span<const Trial> trials) {
  StoppingSavings savings;
  const std::optional<double> usual = UsualMeasurements(trials);
  savings.is_known = usual.has_value();
  absl::Duration spent;
  for (const Trial& trial : trials) {
    if (IsFinished(trial.state)) spent += TimeOf(trial);
    if (!IsStoppedByRule(trial)) continue;
    ++savings.stopped;
    if (!usual || trial.measurements == 0) continue;
    const auto made = static_cast<double>(trial.measurements);
    // Negative for a trial that was stopped after more measurements than usual.
    const double missing = std::max(0.0, *usual - made) / made;
    savings.time += TimeOf(trial) * missing;
    savings.gpu_time += UsageOf(trial).gpu_time * missing;
  }
  const absl::Duration all = savings.time + spent;
  if (all > absl::ZeroDuration()) savings.share = absl::FDivDuration(savings.time, all);
  return savings;
}

}  // namespace vernier
