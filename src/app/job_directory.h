#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vernier/core/training_job.h"

namespace vernier::app {

// The folder, or its nearest existing ancestor.
std::filesystem::path NearestExisting(const std::filesystem::path& folder);

// Checks that files can be made in the folder, or, if it is missing, in its nearest existing ancestor. Leaves nothing.
// Unavailable: "'PATH' cannot be written to: REASON".
absl::Status CheckWritable(const std::string& folder);

// The job directory as a folder of this host. nullopt: the job has none, or it is a URL of no file system.
// `fallback`: where the job runs if it does not say.
std::optional<std::filesystem::path> LocalJobDirectory(const TrainingJob& job,
                                                       const std::string& fallback);
// The field of a definition that names it.
std::string_view JobDirectoryField(const TrainingJob& job);

// Checks that the job's programs can write to its job directory: makes the folder, and a file in it that is removed
// again, so that errors show before anything runs. With `only_look`, the folder is not made, and its nearest existing
// ancestor is checked. A URL of no file system is OK. `fallback`: as in LocalJobDirectory.  InvalidArgument: a FieldError.
absl::Status CheckJobDirectory(const TrainingJob& job,
                               const std::string& fallback,
                               bool only_look = false);

}  // namespace vernier::app
