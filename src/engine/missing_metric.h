#pragma once

#include <string>

#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/metric_reader.h"

// Trials whose program ended without reporting an objective.
namespace vernier::engine {

// Names of the objectives that the trial has not reported, as a sentence fragment; empty: it has reported all.
std::string MissingObjectives(const Study& study, const Trial& trial);

// Whether the trial's result comes from its program's output, or could still be found there. Lost output may then have
// held the result.
bool DependsOnOutput(const StudySpec& spec, const Trial& trial);

// Failure message of a trial that ended without the objectives `missing`: names what was seen instead, and the line of
// the study file that would read it. `reader` may be null.
std::string NoMetricMessage(const std::string& missing,
                            const Study& study,
                            const Trial& trial,
                            const MetricReader* reader);

}  // namespace vernier::engine
