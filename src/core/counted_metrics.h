#pragma once

#include <map>
#include <optional>
#include <string>

#include "vernier/core/trial.h"

namespace vernier {

// The value of a trial in a metric, for lists and filters: the final value, or the last reported one if there is no
// final value. nullopt: neither exists.
inline std::optional<double> CountedValue(const Trial& trial, const std::string& metric) {
  const auto final = trial.final_metrics.find(metric);
  if (final != trial.final_metrics.end()) return final->second;
  if (!trial.last.has_value()) return std::nullopt;
  const auto last = trial.last->metrics.find(metric);
  if (last == trial.last->metrics.end()) return std::nullopt;
  return last->second;
}

// CountedValue for all metrics of the trial.
inline std::map<std::string, double> CountedValues(const Trial& trial) {
  std::map<std::string, double> values = trial.final_metrics;
  if (trial.last.has_value()) values.insert(trial.last->metrics.begin(), trial.last->metrics.end());
  return values;
}

}  // namespace vernier
