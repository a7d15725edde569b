#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "vernier/core/study.h"

// The Python packages and the code of a job on their way to the server.
namespace vernier::cli {

// Builds a source archive of the package in a folder, into `folder_for_it`: with the setup.py beside the package, or
// with a generated one. Returns the archive's path.
// NotFound: no such folder.  InvalidArgument: not a package.  Internal: the build failed, and has printed why.
absl::StatusOr<std::string> BuildPackage(const std::string& package_path,
                                         const std::string& folder_for_it);

// Uploads each local file to the server, which stores it under its hash, and replaces it by the server's name. URLs
// stay as they are.  InvalidArgument: a path that is not a file, or two files with one name.
absl::StatusOr<std::vector<std::string>> UploadPackages(Connection& connection,
                                                        const std::vector<std::string>& packages);

// submission::SendCode over the connection.
absl::StatusOr<std::string> SendCode(Connection& connection, StudySpec& spec);

}  // namespace vernier::cli
