#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// Number and size of the files below a folder.
struct FolderSize {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

// The output folder of a trial's programs, its --job-dir.
// FailedPrecondition: the job has none, or its path is relative to the server, or a URL.
absl::StatusOr<std::string> JobOutputOf(const StudySpec& spec, TrialNumber trial);

// Copies a folder recursively; symbolic links stay links. The copy gets its name only when it is complete.
// AlreadyExists: `to` exists.  NotFound: `from` is not a folder of this host.  Unavailable: it cannot be written.
absl::StatusOr<FolderSize> CopyFolder(const std::string& from, const std::string& to);

}  // namespace vernier::cli
