#include "src/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/core/status.h"

namespace vernier::base {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create() {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::string path = ((error ? "/tmp" : temporary) / "vernier-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return Unavailable("cannot make a temporary folder '{}': {}", path, std::strerror(errno));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace vernier::base
