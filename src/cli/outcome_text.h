#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/output.h"
#include "src/core/outcome_constraint.h"

// Outcome constraints and several objectives, in words and tables.
namespace vernier::cli {

// How far the constraint is satisfied: "latency_ms <= 20 is kept by 4.2", "… is broken by 3", "… is broken, if only
// just", "… is not known, the trial has no finite latency_ms".
std::string DescribeSlack(const OutcomeConstraint& constraint,
                          const std::map<std::string, double>& metrics);

// The completed trial that is nearest to satisfying every constraint, among those that break one; null if there is
// none. Nearest means fewest unknown constraints, then fewest broken ones, then the smallest total shortfall, where
// each constraint's shortfall is divided by the largest of any trial.
const TrialRecord* NearestToFeasible(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials);

// Why the study has no best trial, and which one is nearest.  REQUIRES: it has none.
std::string WhyNoBest(const StudyRecord& study, const std::vector<TrialRecord>& trials);

// The optimal ones of `trials`, best by the first objective first.
std::vector<TrialRecord> SelectOptimal(const StudyRecord& study,
                                       const std::vector<TrialRecord>& trials);
// Prints them: as a table of numbers, objectives and parameters, or for programs as a list of trials.
void ListOptimal(Output& output, const StudyRecord& study, const std::vector<TrialRecord>& optimal);

}  // namespace vernier::cli
