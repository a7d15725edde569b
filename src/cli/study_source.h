#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// Bytes of a file that is read whole, unless its reader says otherwise.
inline constexpr std::int64_t kMostInput = std::int64_t{16} << 20;

// What a file holds, or what comes out of a pipe; "-" is standard input. `what` it should be, for errors: "study file".
// NotFound: no such file.  InvalidArgument: more than `most_bytes`, a folder or a device, or nothing that can be read, such as
// a pipe with a name that nobody writes to for ten seconds.
absl::StatusOr<std::string> ReadInput(const std::string& path,
                                      std::string_view what,
                                      std::int64_t most_bytes = kMostInput);

// The study that a file defines, under another name than the file's if `name` is not empty; "-" is standard input. A job
// without a working directory gets the file's folder, and a relative one is taken from there, as are the folder of its code
// and packages that are paths or lie there, so that the study means the same wherever its server runs.
// NotFound: no such file.  InvalidArgument: as ParseStudyFile.
absl::StatusOr<StudySpec> LoadStudy(const std::string& path, std::string_view name = "");

}  // namespace vernier::cli
