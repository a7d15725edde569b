#include "src/metrics/wanted_metric.h"

#include <algorithm>

#include "src/core/outcome_constraint.h"

namespace vernier::metrics {

std::vector<WantedMetric> WantedMetrics(const StudySpec& spec) {
  std::vector<WantedMetric> wanted;
  const auto add = [&](const std::string& name) {
    if (std::ranges::count(wanted, name, &WantedMetric::name) > 0) return;
    const auto entry = spec.metrics.find(name);
    wanted.push_back(
        {.name = name, .source = entry == spec.metrics.end() ? MetricSource() : entry->second});
  };
  for (const Objective& objective : spec.objectives) add(objective.metric);
  if (const auto constraints = ParseOutcomeConstraints(spec); constraints.ok()) {
    for (const OutcomeConstraint& constraint : *constraints) {
      for (const std::string& metric : constraint.metrics()) add(metric);
    }
  }
  for (const auto& [name, source] : spec.metrics) add(name);
  return wanted;
}

}  // namespace vernier::metrics
