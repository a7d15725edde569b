#pragma once

#include <vector>

#include "nlohmann/json.hpp"
#include "src/cli/resources.h"

namespace vernier::cli {

// The names of all metrics of the trials, the objectives first.
std::vector<std::string> MetricNames(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials);

// One flat object for each trial: number, state, metrics.NAME (final, or last seen), parameters.NAME in the user's
// order, times, how it ended. Every object has every column.
nlohmann::ordered_json TrialCsvRows(const StudyRecord& study,
                                    const std::vector<TrialRecord>& trials);

}  // namespace vernier::cli
