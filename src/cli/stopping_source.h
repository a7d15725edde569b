#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/resources.h"
#include "src/core/stopping_simulation.h"
#include "vernier/core/choice.h"
#include "vernier/core/study.h"

// Simulations of stopping rules over stored studies.
namespace vernier::cli {

// Whether the study's rule stops trials. Otherwise (option `act: false`) the study only checks that it is valid.
bool ActsOnStopping(const StudySpec& spec);

enum class RuleOrigin {
  kGiven,    // Named, or with other options than in the study.
  kOwn,      // The study's.
  kDefault,  // codec::kAutomaticRule.
};

// A rule to simulate.
struct ReportedRule {
  Choice choice;
  RuleOrigin origin = RuleOrigin::kGiven;
  std::unique_ptr<EarlyStopper> rule;
};
// Makes the rule `name` with `options`. Without a name: the study's own rule with its options, changed by `options`, or
// codec::kAutomaticRule if the study has none.
// InvalidArgument: unknown or illegal rule or option, as AlgorithmCatalogue::NewEarlyStopper; the rule stops no trial.
absl::StatusOr<ReportedRule> ChooseReportedRule(
    const StudySpec& spec,
    const std::string& name,
    const std::map<std::string, ParameterValue>& options);

// Reads the trials' curves and simulates the rule on them. On a terminal, shows how far it has come if that takes long.
absl::StatusOr<StoppingSimulation> SimulateRule(Context& context,
                                                Connection& connection,
                                                const StudyRecord& study,
                                                std::vector<TrialRecord> trials,
                                                const EarlyStopper& rule);

}  // namespace vernier::cli
