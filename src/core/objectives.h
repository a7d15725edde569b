#pragma once

#include <map>
#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier {

// The objective that curves, stopping rules and the order of trials follow; one without a metric where there is nothing
// to tune.
const Objective& FirstObjective(const StudySpec& spec);

// "maximize accuracy, minimize latency_ms"; "none".
std::string DescribeObjectives(const std::vector<Objective>& objectives);

// The objectives that `metrics` has no value of, in words: "objective 'accuracy'", "objectives 'accuracy', 'loss'". Empty
// if it has all: only then may a trial complete.
std::string MissingObjectives(const std::vector<Objective>& objectives,
                              const std::map<std::string, double>& metrics);

// One for each objective; NaN where there is none.
std::vector<double> ValuesOf(const std::vector<Objective>& objectives,
                             const std::map<std::string, double>& metrics);

}  // namespace vernier
