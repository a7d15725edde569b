#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// What lies below a folder.
struct FolderSize {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

// The folder into which a trial's programs wrote, its --job-dir.
// FailedPrecondition: the job has none, or one that only the server, or the program that serves a URL, can find.
absl::StatusOr<std::string> JobOutputOf(const StudySpec& spec, TrialNumber trial);

// Copies a folder with all that is in it; links stay links. The copy appears under its name when it is complete.
// AlreadyExists: `to` is there.  NotFound: `from` is no folder of this machine.  Unavailable: not written.
absl::StatusOr<FolderSize> CopyFolder(const std::string& from, const std::string& to);

}  // namespace vernier::cli
