#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// What a file holds; "-" is standard input. `what` it should be, for errors: "study file".
// NotFound: no such file.  InvalidArgument: a folder.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::string_view what);

// The study that a file defines, under another name than the file's if `name` is not empty; "-" is standard input. A job
// without a working directory gets the file's folder, and a relative one is taken from there, as are the folder of its code
// and packages that are paths or lie there, so that the study means the same wherever its server runs.
// NotFound: no such file.  InvalidArgument: as ParseStudyFile.
absl::StatusOr<StudySpec> LoadStudy(const std::string& path, std::string_view name = "");

}  // namespace vernier::cli
