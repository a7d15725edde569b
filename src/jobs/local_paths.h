#pragma once

#include <filesystem>

#include "vernier/core/training_job.h"

namespace vernier::jobs {

// Makes the paths of a definition absolute that are relative to the folder of its file: the folder of the code, the working
// directory (by default `folder`; with code it stays relative to the code), and packages that are files or folders.
void ResolveLocalPaths(const std::filesystem::path& folder, TrainingJob& job);

}  // namespace vernier::jobs
