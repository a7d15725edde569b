#include "src/app/job_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "file://";

bool IsUrl(const std::string& path) { return path.find("://") != std::string::npos; }

}  // namespace

absl::Status CheckJobDirectory(const TrainingJob& job, const std::string& fallback) {
  std::string path = job.job_directory;
  if (path.starts_with(kFile)) path = path.substr(kFile.size());
  if (path.empty() || IsUrl(path)) return absl::OkStatus();
  const fs::path folder = fs::path(fallback) / job.working_directory / path;
  const auto refused = [&](const std::string& reason) {
    return FieldError(job.input.has_value() ? "trainingInput.jobDir" : "job.dir",
                      fmt::format("'{}' cannot be written to: {}", folder.string(), reason));
  };
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return refused(error.message());
  std::string probe = (folder / ".vernier-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) return refused(std::strerror(errno));
  close(file);
  unlink(probe.c_str());
  return absl::OkStatus();
}

}  // namespace vernier::app
