#include "src/jobs/local_paths.h"

#include <string>

#include "src/jobs/package_path.h"

namespace vernier::jobs {
namespace {

namespace fs = std::filesystem;

// Names for pip stay.
void ResolvePackages(const fs::path& folder, TrainingJob& job) {
  if (!job.python.has_value()) return;
  for (std::string& package : job.python->packages) {
    if (package.find("://") != package.npos) continue;
    package = PathOfPackage(package, folder.string()).value_or(package);
  }
}

}  // namespace

void ResolveLocalPaths(const fs::path& folder, TrainingJob& job) {
  ResolvePackages(folder, job);
  if (job.code.has_value()) {
    std::string& code = job.code->folder;
    if (!code.empty()) code = (folder / code).lexically_normal().string();
    return;  // The working directory is relative to the code.
  }
  std::string& directory = job.working_directory;
  // Without a working directory, an image's own applies.
  if (RunsImages(job) && directory.empty()) return;
  directory =
      directory.empty() ? folder.string() : (folder / directory).lexically_normal().string();
}

}  // namespace vernier::jobs
