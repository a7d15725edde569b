#include "src/app/job_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/base/open_file.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/jobs/package_path.h"
#include "src/jobs/replica_command.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;

// Most bytes of an archive of code, and bytes read at once. Choices: the client packs at most 256 MiB (ADR 32); an
// archive made by hand may be larger.
constexpr std::int64_t kMostArchive = std::int64_t{1} << 30;
constexpr std::int64_t kPiece = std::int64_t{1} << 16;

absl::Status CheckFolder(const std::string& field, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return absl::OkStatus();
  return FieldError(field, fmt::format("'{}' is no folder on the server's host", path));
}

absl::Status CheckFolders(const std::string& base, const TrainingJob& job) {
  // Jobs with a folder of their own have none of the client's (docs/adr/0032-a-folder-for-each-replica.md); in an
  // image, the path need not exist on the host.
  if (RunsInOwnFolder(job) || RunsImages(job)) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(CheckFolder("job.working_dir", base));
  for (const auto& [role, replica] : job.replicas) {
    if (replica.directory.empty()) continue;
    VERNIER_RETURN_IF_ERROR(
        CheckFolder(fmt::format("job.replicas.{}.directory", RoleName(role, job)),
                    jobs::Below(base, replica.directory)));
  }
  return absl::OkStatus();
}

absl::Status CheckPackages(const std::string& base, const TrainingJob& job) {
  if (!job.python.has_value()) return absl::OkStatus();
  const std::vector<std::string>& packages = job.python->packages;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    const std::optional<std::string> path = jobs::PathOfPackage(packages[i], base);
    std::error_code error;
    // Names from an index, which are no paths, are left to pip.
    if (!path.has_value() || fs::exists(*path, error)) continue;
    return FieldError(fmt::format("job.python.packages[{}]", i),
                      fmt::format("'{}' is not there on the server's host", *path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> HashOf(const std::string& path) {
  const auto refused = [](const std::string& why) { return FieldError("job.code.archive", why); };
  const base::OpenFile file(path);
  if (file.error() != 0 || !file.kind().empty()) {
    return refused(fmt::format("'{}' is no file on the server's host", path));
  }
  const std::int64_t size = file.Size().value_or(0);
  if (size > kMostArchive) {
    return refused(
        fmt::format("'{}' has {} bytes, at most {} are taken", path, size, kMostArchive));
  }
  base::Sha256 hash;
  for (std::int64_t offset = 0; offset < size;) {
    const std::optional<std::string> piece = file.ReadAt(offset, std::min(kPiece, size - offset));
    if (!piece.has_value()) {
      return refused(fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
    }
    // It was cut off while being read. The hash of what is there will tell.
    if (piece->empty()) break;
    hash.AddBytes(*piece);
    offset += static_cast<std::int64_t>(piece->size());
  }
  return hash.Hex();
}

absl::Status CheckCode(const std::string& base, std::optional<CodeSnapshot>& code) {
  if (!code.has_value()) return absl::OkStatus();
  if (!code->folder.empty()) {
    return FieldError("job.code",
                      fmt::format("'{}' is a folder of the client, which sends its files first and "
                                  "then names their archive",
                                  code->folder));
  }
  constexpr std::string_view kFile = "file://";
  std::string path = code->archive;
  if (path.starts_with(kFile)) path.erase(0, kFile.size());
  // Relative to where jobs run by default, and not to this job's own working directory.
  VERNIER_ASSIGN_OR_RETURN(std::string hash, HashOf(jobs::Below(base, path)));
  // The definition stores archive and hash, so that a file that was replaced later is noticed.
  if (!code->sha256.empty() && code->sha256 != hash) {
    return FieldError("job.code.sha256",
                      fmt::format("'{}' has {}, got {}", path, hash, code->sha256));
  }
  code->sha256 = std::move(hash);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckJobFiles(const std::string& fallback, TrainingJob& job) {
  const std::string base = jobs::Below(fallback, job.working_directory);
  // Cheap checks first; the archive is read last, as it may be large.
  VERNIER_RETURN_IF_ERROR(CheckFolders(base, job));
  VERNIER_RETURN_IF_ERROR(CheckPackages(base, job));
  return CheckCode(fallback, job.code);
}

}  // namespace vernier::app
