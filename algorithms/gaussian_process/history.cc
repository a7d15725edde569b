#include "algorithms/gaussian_process/history.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace vernier::gp {
namespace {

// The value, larger being better; nullopt if the trial has none.
std::optional<double> ValueOf(const Observation& trial, Goal goal) {
  const bool has_value =
      trial.outcome == Outcome::kCompleted || trial.outcome == Outcome::kStoppedEarly;
  if (!has_value || trial.values.empty() || !std::isfinite(trial.values.front())) {
    return std::nullopt;
  }
  return goal == Goal::kMaximize ? trial.values.front() : -trial.values.front();
}

std::optional<double> MedianOfCompleted(Goal goal, std::span<const Observation> finished) {
  std::vector<double> values;
  for (const Observation& trial : finished) {
    const std::optional<double> value = ValueOf(trial, goal);
    if (value && trial.outcome == Outcome::kCompleted) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

History ReadHistory(const CoordinateSpace& space,
                    Goal goal,
                    std::span<const Observation> finished,
                    std::span<const PendingPoint> pending) {
  const std::optional<double> median = MedianOfCompleted(goal, finished);
  History history;
  for (const Observation& trial : finished) {
    std::optional<double> value = ValueOf(trial, goal);
    if (!value) {
      history.failed.push_back(space.Encode(trial.point));
      continue;
    }
    if (trial.outcome == Outcome::kStoppedEarly && median) value = std::min(*value, *median);
    history.points.push_back(space.Encode(trial.point));
    history.values.push_back(*value);
  }
  for (const PendingPoint& trial : pending) history.pending.push_back(space.Encode(trial.point));
  return history;
}

std::vector<std::size_t> ChooseModelled(std::span<const double> values, std::size_t limit) {
  std::vector<std::size_t> all(values.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= limit) return all;
  std::vector<char> chosen(values.size(), 0);
  std::vector<std::size_t> by_value = all;
  std::stable_sort(by_value.begin(), by_value.end(), [&values](std::size_t a, std::size_t b) {
    return values[a] > values[b];
  });
  const std::size_t best = 2 * limit / 5;
  const std::size_t latest = limit / 5;
  for (std::size_t i = 0; i < best; ++i) chosen[by_value[i]] = 1;
  for (std::size_t i = 0; i < latest; ++i) chosen[values.size() - 1 - i] = 1;
  std::vector<std::size_t> others;
  for (const std::size_t i : all) {
    if (!chosen[i]) others.push_back(i);
  }
  const std::size_t rest = limit - (all.size() - others.size());
  for (std::size_t i = 0; i < rest; ++i) chosen[others[i * others.size() / rest]] = 1;
  std::erase_if(all, [&chosen](std::size_t i) { return !chosen[i]; });
  return all;
}

}  // namespace vernier::gp
