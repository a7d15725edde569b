#pragma once

#include <string>

#include "absl/status/status.h"
#include "vernier/core/study.h"

// How a training job's program is given its parameters.
namespace vernier {

// How the program is given this parameter: as `job.arguments` says, or by the job's style. The name is never empty where
// the style has one.
ParameterArgument ArgumentOf(const TrainingJob& job, const Parameter& parameter);

// "--no-bias" is given where the parameter is false, unless the parameter itself is called "no_bias".
bool IsNegativeFlag(const std::string& flag, const std::string& parameter);

// InvalidArgument: a FieldError for an unknown parameter, a flag of a parameter that is not boolean, a name that the style
// cannot have, or a name that two parameters have.
// REQUIRES: spec.job.
absl::Status CheckArguments(const StudySpec& spec);

}  // namespace vernier
