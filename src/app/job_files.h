#pragma once

#include <string>

#include "absl/status/status.h"
#include "vernier/core/training_job.h"

namespace vernier::app {

// Checks that this host has the files that the job's definition names, so that missing ones show before anything runs:
// working directories, packages that are paths, the archive of its code, whose hash is filled in. Those of containers
// are left to the engine. `fallback`: base of relative paths if the job gives none.
// InvalidArgument: a FieldError.
absl::Status CheckJobFiles(const std::string& fallback, TrainingJob& job);

}  // namespace vernier::app
