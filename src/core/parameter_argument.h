#pragma once

#include <string>

#include "absl/status/status.h"
#include "vernier/core/study.h"

// The form in which a training job's program gets its parameters.
namespace vernier {

// Returns the form of a parameter: that in `job.arguments`, or the job's style. The name is set if the style needs one.
ParameterArgument ArgumentOf(const TrainingJob& job, const Parameter& parameter);

// Whether the flag is passed if the parameter is false: "--no-bias" is, unless the parameter itself is called
// "no_bias".
bool IsNegativeFlag(const std::string& flag, const std::string& parameter);

// Checks the arguments of a job.
// InvalidArgument: a FieldError for an unknown parameter, a flag for a parameter that is not boolean, a name that the
// style does not allow, or a name of two parameters.
// REQUIRES: spec.job.
absl::Status CheckArguments(const StudySpec& spec);

}  // namespace vernier
