#include "src/jobs/package_path.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace vernier::jobs {
namespace {

namespace fs = std::filesystem;

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
  if (!is_path && !fs::exists(below, error)) return std::nullopt;
  return fs::absolute(below, error).lexically_normal().string();
}

}  // namespace vernier::jobs
