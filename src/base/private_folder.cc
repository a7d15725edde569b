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
  // A path that ends with a slash has itself as parent, which was just made.
  if (error || !folder.has_filename()) return error;
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  const std::error_code reason(errno, std::generic_category());
  // Another process may have made it meanwhile. A file of that name is an error.
  if (std::filesystem::is_directory(folder, ignored)) return {};
  return reason;
}

absl::Status ClaimPrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Unavailable("folder '{}' cannot be created: {}", folder, std::strerror(errno));
  }
  struct stat status = {};
  // lstat: in a shared folder such as /tmp, another user may have put a link of this name.
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
