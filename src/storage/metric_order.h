#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "src/core/counted_metrics.h"
#include "vernier/storage.h"

// The order of TrialScan::metric, for every implementation of Storage.
namespace vernier::storage {

// Where a trial stands in it.
struct Place {
  std::optional<double> value;
  std::int64_t number = 0;
};

inline Place PlaceOf(const Trial& trial, const std::string& metric) {
  std::optional<double> value = CountedValue(trial, metric);
  if (value.has_value() && std::isnan(*value)) value.reset();
  return {.value = value, .number = trial.number.value()};
}

inline bool IsBefore(const Place& a, const Place& b, bool descending) {
  if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
  if (a.value.has_value() && *a.value != *b.value) {
    return descending ? *a.value > *b.value : *a.value < *b.value;
  }
  return a.number < b.number;
}

// Whether a scan by a metric is of trials with such a value.
inline bool IsInRange(const TrialScan& scan, const std::optional<double>& value) {
  return value.has_value() && *value >= scan.least && *value <= scan.most;
}

// Whether the scan is of trials in such a state.
inline bool IsWanted(const TrialScan& scan, TrialState state) {
  return scan.states.empty() || std::ranges::find(scan.states, state) != scan.states.end();
}

}  // namespace vernier::storage
