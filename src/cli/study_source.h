#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// Largest input that is read as a whole, in bytes, unless the caller sets another bound.
inline constexpr std::int64_t kMostInput = std::int64_t{16} << 20;

// The content of a file or pipe; "-" is standard input. `what` names the expected content in errors: "study file".
// NotFound: no such file.  InvalidArgument: larger than `most_bytes`; a folder or a device; not readable, such as a
// named pipe without a writer for ten seconds.
absl::StatusOr<std::string> ReadInput(const std::string& path,
                                      std::string_view what,
                                      std::int64_t most_bytes = kMostInput);

// The study that a file defines, renamed to `name` unless that is empty; "-" is standard input. Relative paths become
// absolute, based on the file's folder, so that the study means the same wherever its server runs: the job's working
// directory (default: that folder), the folder of its code, and packages that are files.
// NotFound: no such file.  InvalidArgument: as ParseStudyFile.
absl::StatusOr<StudySpec> LoadStudy(const std::string& path, std::string_view name = "");

// Bases the relative paths of the study's job on the folder of the file that defines it, as LoadStudy does.
void ResolvePaths(const std::string& path, StudySpec& spec);

}  // namespace vernier::cli
