#pragma once

#include <map>
#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier {

// The first objective, which curves, stopping rules and the order of trials use. An objective without a metric if the
// study has none.
const Objective& FirstObjective(const StudySpec& spec);

// Whether a further trial was expected to improve the best one by too little (StudySpec::convergence). Without a valid trial there
// is nothing to improve.
bool HasConverged(const Study& study);

// Returns "maximize accuracy, minimize latency_ms", or "none".
std::string DescribeObjectives(const std::vector<Objective>& objectives);

// Names the objectives without a value in `metrics`: "objective 'accuracy'", "objectives 'accuracy', 'loss'". Empty if
// all have one; only then may a trial complete.
std::string MissingObjectives(const std::vector<Objective>& objectives,
                              const std::map<std::string, double>& metrics);

// Returns one value for each objective; NaN if `metrics` has none.
std::vector<double> ValuesOf(const std::vector<Objective>& objectives,
                             const std::map<std::string, double>& metrics);

}  // namespace vernier
