#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"

// Folders that only the user of this process can enter, whatever the umask says.
namespace vernier::base {

// Makes the folder and the parents that are missing, each mode 0700. What is there already stays as it is. An empty path is
// the working directory.
std::error_code MakePrivateFolders(const std::filesystem::path& folder);

// Makes the folder, whose parent must exist, and takes from others what rights they have to it.
// Unavailable: it cannot be made.  PermissionDenied: another user owns it, or it is no folder.
absl::Status ClaimPrivateFolder(const std::string& folder);

}  // namespace vernier::base
