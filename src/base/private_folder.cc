#include "src/base/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/core/status.h"

namespace vernier::base {

std::error_code MakePrivateFolders(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
  const std::error_code error = MakePrivateFolders(folder.parent_path());
  // With a slash at its end it is its own child.
  if (error || !folder.has_filename()) return error;
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  const std::error_code reason(errno, std::generic_category());
  // Another process may have made it; but a file of that name is in the way.
  if (std::filesystem::is_directory(folder, ignored)) return {};
  return reason;
}

absl::Status ClaimPrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Unavailable("folder '{}' cannot be created: {}", folder, std::strerror(errno));
  }
  struct stat status = {};
  if (lstat(folder.c_str(), &status) != 0) {
    return Unavailable("folder '{}': {}", folder, std::strerror(errno));
  }
  const bool is_ours = S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  if (!is_ours || ((status.st_mode & 0077) != 0 && chmod(folder.c_str(), 0700) != 0)) {
    return PermissionDenied("'{}' is not a folder of this user", folder);
  }
  return absl::OkStatus();
}

}  // namespace vernier::base
