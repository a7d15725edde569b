#include "src/core/stopping_savings.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "src/core/running_time.h"
#include "src/core/stopped_early.h"

namespace vernier {
namespace {

template <typename T>
T MedianOf(std::vector<T> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// What a trial that completes by itself usually takes, and the least that any trial with measurements took: about what
// it takes to start one and to end it.
struct Usual {
  double measurements = 0;
  absl::Duration time;
  absl::Duration least;
};
std::optional<Usual> UsualOf(std::span<const Trial> trials) {
  std::vector<double> counts;
  std::vector<absl::Duration> times;
  absl::Duration least = absl::InfiniteDuration();
  for (const Trial& trial : trials) {
    // Results from elsewhere were added without measurements.
    if (trial.state != TrialState::kCompleted || trial.measurements == 0) continue;
    least = std::min(least, TimeTaken(trial));
    if (trial.stop.has_value()) continue;
    counts.push_back(static_cast<double>(trial.measurements));
    times.push_back(TimeTaken(trial));
  }
  if (counts.empty()) return std::nullopt;
  return Usual{.measurements = MedianOf(counts), .time = MedianOf(times), .least = least};
}

absl::Duration SavedBy(const Trial& stopped, const Usual& usual) {
  const auto made = static_cast<double>(stopped.measurements);
  if (made >= usual.measurements) return absl::ZeroDuration();
  const absl::Duration taken = TimeTaken(stopped);
  const absl::Duration at_its_pace = (taken - usual.least) * ((usual.measurements - made) / made);
  return std::max({absl::ZeroDuration(), usual.time - taken, at_its_pace});
}

}  // namespace

StoppingSavings EstimateSavings(std::span<const Trial> trials) {
  StoppingSavings savings;
  const std::optional<Usual> usual = UsualOf(trials);
  savings.is_known = usual.has_value();
  absl::Duration spent;
  for (const Trial& trial : trials) {
    if (IsFinished(trial.state)) spent += TimeTaken(trial);
    if (!IsStoppedByRule(trial)) continue;
    ++savings.stopped;
    if (!usual || trial.measurements == 0) continue;
    const absl::Duration taken = TimeTaken(trial);
    const absl::Duration saved = SavedBy(trial, *usual);
    savings.time += saved;
    if (taken > absl::ZeroDuration()) {
      savings.gpu_time += UsageOf(trial).gpu_time * absl::FDivDuration(saved, taken);
    }
  }
  const absl::Duration all = savings.time + spent;
  if (all > absl::ZeroDuration()) savings.share = absl::FDivDuration(savings.time, all);
  return savings;
}

}  // namespace vernier
