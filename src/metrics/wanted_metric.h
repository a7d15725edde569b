#pragma once

#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier::metrics {

// A metric to look for, and its source.
struct WantedMetric {
  std::string name;
  MetricSource source;
};

// The metrics of a study: its objectives, the metrics of its outcome constraints, and those with an entry of their own.
std::vector<WantedMetric> WantedMetrics(const StudySpec& spec);

// Names under which sources are recorded (Measurement::source).
inline constexpr char kLogSource[] = "log";              // Text in the output.
inline constexpr char kJsonSource[] = "json";            // JSON lines in the output.
inline constexpr char kHypertuneSource[] = "hypertune";  // The file of cloudml-hypertune.
inline constexpr char kTfeventsSource[] = "tfevents";    // TensorBoard event files.

}  // namespace vernier::metrics
