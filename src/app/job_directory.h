#pragma once

#include <string>

#include "absl/status/status.h"
#include "vernier/core/training_job.h"

namespace vernier::app {

// Whether the job's programs can write to its job directory: makes the folder, and in it a file that is removed again, so
// that what is wrong shows before anything runs. Of a URL that no file system knows nothing can be said: OK.
// `fallback`: where the job runs if it does not say so.  InvalidArgument: a FieldError.
absl::Status CheckJobDirectory(const TrainingJob& job, const std::string& fallback);

}  // namespace vernier::app
