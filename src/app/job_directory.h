#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "vernier/core/training_job.h"

namespace vernier::app {

// The folder, or the nearest one above that exists.
std::filesystem::path NearestExisting(const std::filesystem::path& folder);

// Whether files can be made in the folder, or, if it does not exist, the folder itself. Makes nothing.
// Unavailable: "'PATH' cannot be written to: REASON".
absl::Status CheckWritable(const std::string& folder);

// Whether the job's programs can write to its job directory: makes the folder, and in it a file that is removed again, so
// that what is wrong shows before anything runs. If `only_look`, makes nothing. A URL that no file system knows is OK.
// `fallback`: where the job runs if it does not say so.  InvalidArgument: a FieldError.
absl::Status CheckJobDirectory(const TrainingJob& job,
                               const std::string& fallback,
                               bool only_look = false);

}  // namespace vernier::app
