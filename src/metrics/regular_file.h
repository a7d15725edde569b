#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

// Reads files that programs write. The file may have been replaced by anything.
namespace vernier::metrics {

// Returns at most `most_bytes` of the file from `offset` on; nothing if it does not exist, or is not a regular file (a
// folder, a pipe, a link).  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            std::int64_t offset,
                                            std::int64_t most_bytes);

}  // namespace vernier::metrics
