#pragma once

#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"
#include "src/cli/resources.h"
#include "src/cli/stopping_source.h"
#include "src/cli/terminal/table.h"
#include "src/core/stopping_savings.h"
#include "src/core/stopping_simulation.h"

// Early stopping in words: what a rule has saved, and what a rule would have done.
namespace vernier::cli {

// "12 of 50 trials stopped, about 3h20m of trial time saved (31%), 6.5 GPU hours".
std::string DescribeSavings(const StoppingSavings& savings, std::int64_t trials);
// The same figures for `study show`; without those that are unknown.
nlohmann::ordered_json SavingsJson(const StoppingSavings& savings);

// For a study that does not act on its rule: "would have stopped 12 of 50 trials (rule not acted on), saving about 3h20m of
// trial time (31%); the best trial #7 would not have been stopped".
std::string DescribeUnactedRule(const StoppingSimulation& simulation);
// The same figures for `study show`.
nlohmann::ordered_json UnactedRuleJson(const StoppingSimulation& simulation);

// What the rule would have done, in several lines.
std::string DescribeSimulation(const StudyRecord& study,
                               const ReportedRule& rule,
                               const StoppingSimulation& simulation);
// The trials that it would have stopped.
Table StopTable(const StoppingSimulation& simulation);
// Everything, for programs.
nlohmann::ordered_json SimulationJson(const StudyRecord& study,
                                      const ReportedRule& rule,
                                      const StoppingSimulation& simulation);

}  // namespace vernier::cli
