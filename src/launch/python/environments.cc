// An environment is a folder with the records of a replica (src/launch/replica_files.h), whose program is the
// installer. Its state is read from these records only, so it survives this process, and concurrent requests from
// several gangs meet in the folder's start marker: one installation runs, the others wait for it.

#include "src/launch/python/environments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/base/private_folder.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/jobs/package_path.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/output_tail.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

extern const char kInstallPackages[];  // install_packages.py.

namespace {

// Largest package file, in bytes. A choice: above the size of PyTorch's wheels (about 1 GB); such files are read into
// memory.
constexpr std::int64_t kMostPackage = std::int64_t{4} << 30;

namespace fs = std::filesystem;

constexpr char kInstallScript[] = "install_packages.py";
constexpr char kEnvironment[] = "environment";
// Limit of the stored output of pip. A choice: it prints some lines per package.
constexpr std::int64_t kInstallOutputBytes = std::int64_t{16} << 20;
// A choice: a partial environment is removed and made anew anyway.
constexpr std::int64_t kInstallGraceMs = 1000;

// Reads a package file. Symbolic links are allowed: users keep packages where they like.
std::optional<std::string> ReadPackage(const std::string& path) {
  return ReadWholeFile(path, kMostPackage, OpenFile::Link::kFollow);
}

// Hashes the names and contents of all files below the folder, in sorted order. __pycache__ is skipped, since running
// the code would otherwise change the hash.
absl::Status HashFolder(const fs::path& folder, base::Sha256& hash) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == "__pycache__") {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(error)) {
      files.push_back(entry->path());
    }
  }
  if (error) return Unavailable("cannot read folder '{}': {}", folder.string(), error.message());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const std::optional<std::string> content = ReadPackage(file.string());
    if (!content.has_value()) return NotFound("file '{}' cannot be read", file.string());
    hash.Add(file.lexically_relative(folder).string());
    hash.Add(*content);
  }
  return absl::OkStatus();
}

absl::Status HashPackage(const std::string& package, base::Sha256& hash) {
  hash.Add(fs::path(package).filename().string());
  std::error_code error;
  // A name: the index decides about the content, so only the name counts.
  if (!package.starts_with('/')) return absl::OkStatus();
  if (fs::is_directory(package, error)) return HashFolder(package, hash);
  const std::optional<std::string> content = ReadPackage(package);
  if (!content.has_value()) return NotFound("package '{}' is not there, or not readable", package);
  hash.Add(*content);
  return absl::OkStatus();
}

EnvironmentRequest WithPaths(EnvironmentRequest request) {
  for (std::string& package : request.packages) {
    package = jobs::PathOfPackage(package, request.directory).value_or(package);
  }
  return request;
}

}  // namespace

absl::StatusOr<std::string> PythonEnvironments::Name(const EnvironmentRequest& given) {
  const EnvironmentRequest request = WithPaths(given);
  base::Sha256 hash;
  hash.Add(kInstallPackages);
  hash.Add(request.runtime.python);
  hash.Add(request.runtime.wheels);
  for (const std::string& package : request.packages) {
    VERNIER_RETURN_IF_ERROR(HashPackage(package, hash));
  }
  // Half of the digest: 128 bits exclude accidental collisions, and paths stay short.
  return hash.Hex().substr(0, 32);
}

PythonEnvironments::PythonEnvironments(std::string directory,
                                       std::string supervisor,
                                       Environment environment)
    : directory_(std::move(directory)),
      supervisor_(std::move(supervisor)),
      environment_(std::move(environment)) {}

absl::Status PythonEnvironments::Begin(const EnvironmentRequest& request,
                                       const std::string& folder) const {
  const std::error_code error = base::MakePrivateFolders(folder);
  if (error) return NotWritten("cannot create folder", folder, error.value());
  const std::string script = folder + "/" + kInstallScript;
  SupervisedProgram installer{.argv = {request.runtime.python,
                                       script,
                                       fmt::format("{}/{}", folder, kEnvironment),
                                       request.runtime.wheels},
                              .env = {{"PYTHONUNBUFFERED", "1"}},
                              .directory = folder,
                              .grace_ms = kInstallGraceMs,
                              .output_bytes = kInstallOutputBytes};
  installer.argv.insert(installer.argv.end(), request.packages.begin(), request.packages.end());
  installer.env.emplace_back(kReplicaVariable, folder);
  if (!ReplaceFile(script, kInstallPackages, /*durable=*/false) ||
      !ReplaceFile(folder + "/" + kProgramFile, EncodeProgram(installer), /*durable=*/false)) {
    return NotWritten("cannot write to", folder, errno);
  }
  return SpawnSupervisor(supervisor_, folder, environment_);
}

absl::Status PythonEnvironments::Prepare(const std::string& name,
                                         const EnvironmentRequest& request,
                                         absl::Time since) const {
  const std::string folder = fmt::format("{}/{}", directory_, name);
  // `server clean` goes by this time (src/app/clean_up.h).
  utimensat(AT_FDCWD, folder.c_str(), nullptr, 0);
  ReplicaObservation installer = Observe(folder);
  if (IsDown(installer) && installer.exit.exit_code != 0 && installer.ended < since) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) return Unavailable("cannot remove folder '{}': {}", folder, error.message());
    installer = {};
  }
  if (installer.phase != ReplicaObservation::Phase::kNotStarted) return absl::OkStatus();
  return Begin(WithPaths(request), folder);
}

EnvironmentState PythonEnvironments::Check(const std::string& name) const {
  const std::string folder = fmt::format("{}/{}", directory_, name);
  const ReplicaObservation installer = Observe(folder);
  if (!IsDown(installer)) return {};
  if (installer.exit.exit_code == 0) {
    return {.phase = EnvironmentState::Phase::kReady,
            .python = fmt::format("{}/{}/bin/python", folder, kEnvironment)};
  }
  const std::string& error = installer.exit.error;
  return {.phase = EnvironmentState::Phase::kFailed,
          .reason = error.empty() ? OutputTail(folder) : error};
}

std::string PythonEnvironments::LastLine(const std::string& name) const {
  return OutputTail(fmt::format("{}/{}", directory_, name), 1);
}

void PythonEnvironments::CopyOutput(const std::string& name, const std::string& folder) const {
  std::error_code error = base::MakePrivateFolders(folder);
  // Errors are ignored: only the log is incomplete.
  for (const auto& entry : fs::directory_iterator(fmt::format("{}/{}", directory_, name), error)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(kOutputFile)) continue;
    fs::copy_file(entry.path(), fmt::format("{}/{}", folder, file), error);
  }
}

}  // namespace vernier::launch
