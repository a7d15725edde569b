// Command line, server and launcher must agree on which packages are paths, hence one function.

#include "src/jobs/package_path.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace vernier::jobs {
namespace {

namespace fs = std::filesystem;

// The file types that pip installs: wheels and source archives.
bool IsArchive(std::string_view name) {
  return name.ends_with(".whl") || name.ends_with(".tar.gz") || name.ends_with(".zip");
}

}  // namespace

std::optional<std::string> PathOfPackage(const std::string& package, const std::string& directory) {
  constexpr std::string_view kFile = "file://";
  if (package.starts_with(kFile)) return package.substr(kFile.size());
  std::error_code error;
  const fs::path below = fs::path(directory) / package;
  const bool is_url = package.find("://") != std::string::npos;
  const bool is_path = !is_url && (package.find('/') != std::string::npos || IsArchive(package));
  // A bare name is a folder of the job if there is one, like a module beside the study file; otherwise pip looks it up.
  if (!is_path && !fs::exists(below, error)) return std::nullopt;
  return fs::absolute(below, error).lexically_normal().string();
}

}  // namespace vernier::jobs
