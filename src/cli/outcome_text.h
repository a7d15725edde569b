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

// "latency_ms <= 20 is kept by 4.2", "… is broken by 3", "… is broken, if only just", "… is not known, the trial has no
// finite latency_ms".
std::string DescribeSlack(const OutcomeConstraint& constraint,
                          const std::map<std::string, double>& metrics);

// Of the completed ones that break a constraint, the trial that is nearest to keeping all; null if there is none. Nearest
// is what fewest unknown constraints keep from it, then fewest broken ones, then what breaks them least, each measured by
// the worst of all trials.
const TrialRecord* NearestToFeasible(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials);

// Why the study has no best trial, in a sentence that says what is nearest to one.  REQUIRES: it has none.
std::string WhyNoBest(const StudyRecord& study, const std::vector<TrialRecord>& trials);

// Those of `trials` that are optimal, the best by the first objective first.
std::vector<TrialRecord> SelectOptimal(const StudyRecord& study,
                                       const std::vector<TrialRecord>& trials);
// Writes them: a table of their numbers, objectives and parameters; a list of trials for programs.
void ListOptimal(Output& output, const StudyRecord& study, const std::vector<TrialRecord>& optimal);

}  // namespace vernier::cli
