#pragma once

#include <string>

#include "absl/status/status.h"
#include "vernier/core/training_job.h"

namespace vernier::app {

// Whether this host has what the job's definition names of its file system, so that what is out of reach shows before
// anything runs: working directories, packages that are paths, the archive of its code, whose hash is filled in. Those of
// containers are the engine's business. `fallback`: where relative paths begin if the job does not say so.
// InvalidArgument: a FieldError.
absl::Status CheckJobFiles(const std::string& fallback, TrainingJob& job);

}  // namespace vernier::app
