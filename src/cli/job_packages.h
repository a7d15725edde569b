#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"

// The Python packages of a job on their way to the server.
namespace vernier::cli {

// Builds a source archive of the package in the folder, into `folder_for_it`: with the setup.py beside it, or with a made
// one. Returns the archive's path.  NotFound: no such folder.  InvalidArgument: it is no package.  Internal: the build
// failed; its last lines were printed.
absl::StatusOr<std::string> BuildPackage(const std::string& package_path,
                                         const std::string& folder_for_it);

// Copies each local file to the server, which keeps it under its hash, and puts the server's name for it in its place.
// URLs stay as they are.  InvalidArgument: a path that is no file, or two files of one name.
absl::StatusOr<std::vector<std::string>> UploadPackages(Connection& connection,
                                                        const std::vector<std::string>& packages);

}  // namespace vernier::cli
