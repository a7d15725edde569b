#pragma once

#include <map>
#include <optional>
#include <string>

#include "vernier/core/trial.h"

namespace vernier {

// What the trial counts for in a metric: its final value, or, where it has none, the one reported last. Unset: neither.
inline std::optional<double> CountedValue(const Trial& trial, const std::string& metric) {
  const auto final = trial.final_metrics.find(metric);
  if (final != trial.final_metrics.end()) return final->second;
  if (!trial.last.has_value()) return std::nullopt;
  const auto last = trial.last->metrics.find(metric);
  if (last == trial.last->metrics.end()) return std::nullopt;
  return last->second;
}

// In all of its metrics.
inline std::map<std::string, double> CountedValues(const Trial& trial) {
  std::map<std::string, double> values = trial.final_metrics;
  if (trial.last.has_value()) values.insert(trial.last->metrics.begin(), trial.last->metrics.end());
  return values;
}

}  // namespace vernier
