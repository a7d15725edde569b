#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "vernier/core/study.h"

// The files of a program on their way to the server: `code` of a study's job.
namespace vernier::cli {

// Largest folder that is packed, in bytes. A choice: far more than code, far less than data
// (docs/adr/0032-a-folder-for-each-replica.md).
inline constexpr std::int64_t kLargestCode = std::int64_t{256} << 20;

struct PackedCode {
  std::string archive;  // A gzipped tar file. Equal files give equal bytes.
  std::int64_t files = 0;
  std::int64_t bytes = 0;  // Uncompressed.
};

// Packs the folder into `<into>/code.tar.gz`, except for what .vernierignore excludes (or .gitignore, if there is no
// .vernierignore) and what is never code: version control, compiled Python, stores of Vernier. Symbolic links stay
// links.
// InvalidArgument: a FieldError at job.code: the folder is missing, unreadable, empty or larger than `largest`.
absl::StatusOr<PackedCode> PackCode(const std::string& folder,
                                    const std::string& into,
                                    std::int64_t largest = kLargestCode);

// Uploads the code folder that the study's job names, if any, and replaces it in `spec` by the server's archive.
// Returns what was sent, "code: 12 files, 34 KiB of /home/ann/trainer"; empty if there was nothing to send.
absl::StatusOr<std::string> SendCode(Connection& connection, StudySpec& spec);

}  // namespace vernier::cli
