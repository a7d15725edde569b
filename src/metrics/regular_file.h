#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

// Reading files that programs write, which may be anything by now.
namespace vernier::metrics {

// At most `most_bytes` of the file from `offset` on; nothing if it does not exist, or is not a regular file of its own name
// (a folder, a pipe, a link).  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            std::int64_t offset,
                                            std::int64_t most_bytes);

}  // namespace vernier::metrics
