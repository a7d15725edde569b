#pragma once

#include <vector>

#include "nlohmann/json.hpp"
#include "src/cli/resources.h"

namespace vernier::cli {

// One flat object for each trial: number, state, metrics.NAME (final, or last seen), parameters.NAME in the user's
// order, times, how it ended. Every object has every column.
nlohmann::ordered_json TrialCsvRows(const StudyRecord& study,
                                    const std::vector<TrialRecord>& trials);

}  // namespace vernier::cli
