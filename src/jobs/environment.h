#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// The variables that tell a replica who it is, by the conventions of the frameworks and of AI Platform Training.
namespace vernier::jobs {

// TF_CONFIG of replica `i` of the placement: cluster (never with the evaluator), environment, job, task.
std::string TfConfig(const StudySpec& spec,
                     TrialNumber trial,
                     const Placement& placement,
                     std::size_t i);

// The training job as one JSON object with keys in snake_case, counts as text: CLOUD_ML_JOB, and "job" of TF_CONFIG.
std::string JobJson(const TrainingJob& job);

// Every variable that replica `i` is given beside the user's own.
std::map<std::string, std::string> ServiceVariables(const AttemptId& id,
                                                    const StudySpec& spec,
                                                    const Point& point,
                                                    const Placement& placement,
                                                    std::size_t i,
                                                    const std::string& metric_file);

// Whether a variable of this name is, or may be, one of them.
bool IsServiceVariable(std::string_view name);

// Those that the user's own variables may override.
std::map<std::string, std::string> DefaultVariables(const Placement& placement);

}  // namespace vernier::jobs
