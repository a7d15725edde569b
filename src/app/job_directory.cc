#include "src/app/job_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;

// Makes a file in the folder and removes it. Returns the reason if that fails, else an empty text. Only a real file shows
// whether the file system accepts one: permissions do not show quotas, the rules of a network file system or those of
// /proc.
std::string TryToWrite(const fs::path& folder) {
  std::string probe = (folder / ".vernier-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) return std::strerror(errno);
  close(file);
  unlink(probe.c_str());
  return "";
}

}  // namespace

fs::path NearestExisting(const fs::path& folder) {
  std::error_code error;
  fs::path path = fs::absolute(folder, error).lexically_normal();
  // Ends at the root, which exists.
  while (!fs::exists(fs::symlink_status(path, error)) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

absl::Status CheckWritable(const std::string& folder) {
  const fs::path existing = NearestExisting(folder);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Unavailable("'{}' cannot be written to: '{}' is no folder", folder, existing.string());
  }
  const std::string refused = TryToWrite(existing);
  if (refused.empty()) return absl::OkStatus();
  return Unavailable("'{}' cannot be written to: {}", folder, refused);
}

std::optional<fs::path> LocalJobDirectory(const TrainingJob& job, const std::string& fallback) {
  const std::optional<std::string> path = jobs::LocalPath(job.job_directory);
  if (!path.has_value()) return std::nullopt;
  return fs::path(fallback) / job.working_directory / *path;
}

std::string_view JobDirectoryField(const TrainingJob& job) {
  return job.input.has_value() ? "trainingInput.jobDir" : "job.dir";
}

absl::Status CheckJobDirectory(const TrainingJob& job,
                               const std::string& fallback,
                               bool only_look) {
  const std::optional<std::string> path = jobs::LocalPath(job.job_directory);
  // A URL is for the program to write to; this host cannot check it.
  if (!path.has_value()) return absl::OkStatus();
  const std::string_view field = JobDirectoryField(job);
  // A relative path would be in the replica's own folder, which later attempts do not see.
  if (RunsInOwnFolder(job) && !path->starts_with('/')) {
    return FieldError(field,
                      fmt::format("must be absolute or a URL, since every replica runs in a folder "
                                  "of its own, got '{}'",
                                  *path));
  }
  const fs::path folder = *LocalJobDirectory(job, fallback);
  if (only_look) {
    const absl::Status writable = CheckWritable(folder.string());
    return writable.ok() ? writable : FieldError(field, std::string(writable.message()));
  }
  const auto refused = [&](const std::string& reason) {
    return FieldError(field, fmt::format("'{}' cannot be written to: {}", folder.string(), reason));
  };
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return refused(error.message());
  const std::string reason = TryToWrite(folder);
  return reason.empty() ? absl::OkStatus() : refused(reason);
}

}  // namespace vernier::app
