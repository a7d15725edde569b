#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/codec/mapping.h"
#include "vernier/core/training_job.h"

// How a job's program is given its parameters, as a study file says it: `job.arguments`, and with each parameter `arg` or,
// for flags, keys of `bool`. docs/formats/study_file.md.
namespace vernier::codec {

// "option", "separate", "positional", "assignment", "env" or "file".
absl::StatusOr<ArgumentStyle> ReadArgumentStyle(const Json& json, const std::string& path);
// REQUIRES: a style of all parameters, which flags are not.
const char* ArgumentStyleName(ArgumentStyle style);

// Takes what `parameters` say of arguments into the job. What is wrong with names is for Validate to tell.
absl::Status ReadArguments(const Json& parameters,
                           const std::string& path,
                           UnknownKeys unknown_keys,
                           TrainingJob& job);
// For a study without a job: FieldError if any parameter speaks of arguments.
absl::Status RefuseArguments(const Json& parameters, const std::string& path);
// The other way: adds the keys to the parameters, as ParametersToJson made them.
void WriteArguments(const TrainingJob& job, Json& parameters);

}  // namespace vernier::codec
