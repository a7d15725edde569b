#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"

// Makes folders that only the user of this process can enter, whatever the umask.
namespace vernier::base {

// Makes the folder and its missing parents with mode 0700. Existing folders are unchanged. An empty path is the working
// directory.
std::error_code MakePrivateFolders(const std::filesystem::path& folder);

// Makes the folder, whose parent must exist, and removes the rights of others to it.
// Unavailable: it cannot be made.  PermissionDenied: another user owns it, or it is not a folder.
absl::Status ClaimPrivateFolder(const std::string& folder);

}  // namespace vernier::base
