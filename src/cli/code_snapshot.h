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

// At most so much is taken of a folder, in bytes: code, and not data.
inline constexpr std::int64_t kLargestCode = std::int64_t{256} << 20;

struct PackedCode {
  std::string archive;  // A gzipped tar file. Equal files give equal bytes.
  std::int64_t files = 0;
  std::int64_t bytes = 0;  // Before they were packed.
};

// Packs what is in the folder into `<into>/code.tar.gz`, but for what `.vernierignore` says, or where there is none
// `.gitignore`, and for what is never code: version control, compiled Python, stores of Vernier. Symbolic links stay links.
// InvalidArgument: a FieldError at job.code: no folder, one that cannot be read, nothing in it, more than `largest`.
absl::StatusOr<PackedCode> PackCode(const std::string& folder,
                                    const std::string& into,
                                    std::int64_t largest = kLargestCode);

// Sends the folder that the study's job names as its code, if it does, and puts the server's archive in its place. The
// answer is what was sent: "code: 12 files, 34 KiB of /home/ann/trainer"; empty: there was nothing to send.
absl::StatusOr<std::string> SendCode(Connection& connection, StudySpec& spec);

}  // namespace vernier::cli
