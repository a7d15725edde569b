#include "src/cli/job_output.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "src/core/status.h"
#include "src/jobs/layout.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "file://";

FolderSize SizeOf(const fs::path& folder, std::error_code& error) {
  FolderSize size;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_symlink(error) || !entry->is_regular_file(error)) continue;
    ++size.files;
    size.bytes += static_cast<std::int64_t>(entry->file_size(error));
  }
  return size;
}

}  // namespace

absl::StatusOr<std::string> JobOutputOf(const StudySpec& spec, TrialNumber trial) {
  if (!spec.job.has_value() || spec.job->job_directory.empty()) {
    return FailedPrecondition("study '{}' has no job directory (`dir` of its job): nothing to copy",
                              spec.name);
  }
  std::string folder = jobs::JobDirectory(spec, trial);
  if (folder.starts_with(kFile)) folder.erase(0, kFile.size());
  if (folder.find("://") != std::string::npos) {
    return FailedPrecondition("'{}' is a URL: copy it with the program that serves it", folder);
  }
  const fs::path path = fs::path(spec.job->working_directory) / folder;
  if (!path.is_absolute()) {
    return FailedPrecondition("'{}' is relative to the folder that vernierd was started in",
                              path.string());
  }
  return path.lexically_normal().string();
}

absl::StatusOr<FolderSize> CopyFolder(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!fs::is_directory(from, error)) {
    return NotFound("'{}' is no folder of this machine", from);
  }
  if (fs::exists(fs::symlink_status(to, error))) {
    return AlreadyExists("'{}' is already there", to);
  }
  const fs::path target = fs::absolute(to, error).lexically_normal();
  // "out/" has no file name of its own.
  const fs::path name = target.has_filename() ? target : target.parent_path();
  // Written beside the target, so that the final rename stays on one file system and is atomic.
  const fs::path partial = name.string() + ".partial";
  const auto failed = [&](std::string_view what) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    return Unavailable("cannot {} '{}': {}", what, name.string(), error.message());
  };
  fs::create_directories(name.parent_path(), error);
  if (error) return failed("make the folder of");
  fs::remove_all(partial, error);  // Left by an interrupted copy.
  fs::copy(from, partial, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return failed("write");
  const FolderSize size = SizeOf(partial, error);
  if (error) return failed("read");
  fs::rename(partial, name, error);
  if (error) return failed("write");
  return size;
}

}  // namespace vernier::cli
