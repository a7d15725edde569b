#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"

// The files of a program on their way to the server: `code` of a study's job.
namespace vernier::submission {

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

// Sends a file to the server, which stores it under its hash; returns the server's name for it.
using Upload = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// Uploads the code folder that the study's job names, if any, and replaces it in `spec` by the server's archive.
// Returns what was sent, "code: 12 files, 34 KiB of /home/ann/trainer"; empty if there was nothing to send.
absl::StatusOr<std::string> SendCode(const Upload& upload, StudySpec& spec);

}  // namespace vernier::submission
