#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// The environment variables of a replica, by the conventions of the frameworks and of AI Platform Training.
namespace vernier::jobs {

// TF_CONFIG of replica `i` of the placement: cluster (without the evaluator), environment, job, task.
std::string TfConfig(const StudySpec& spec,
                     TrialNumber trial,
                     const Placement& placement,
                     std::size_t i);

// The training job as a JSON object with keys in snake_case and counts as text: CLOUD_ML_JOB, and "job" in TF_CONFIG.
std::string JobJson(const TrainingJob& job);

// All variables that Vernier sets for replica `i`, over the user's own.
std::map<std::string, std::string> ServiceVariables(const AttemptId& id,
                                                    const StudySpec& spec,
                                                    const Point& point,
                                                    const Placement& placement,
                                                    std::size_t i,
                                                    const std::string& metric_file);

// Whether the name is reserved for these variables.
bool IsServiceVariable(std::string_view name);

// Default variables, which the user's own override.
std::map<std::string, std::string> DefaultVariables(const Placement& placement);

}  // namespace vernier::jobs
