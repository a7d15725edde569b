#include "src/app/reporting.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/base/files.h"
#include "src/base/keyed_hash.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "src/wire/names.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretBytes = 32;
constexpr char kSecretFile[] = "/.secret";
constexpr char kSocketFolder[] = "/.report";
constexpr char kSocketFile[] = "/socket";
constexpr std::string_view kUnix = "unix:";
// As the address of a socket has room for, its end included.
constexpr std::size_t kLongestSocketPath = 107;

// Makes the folder unless it is there, for its owner only.
absl::Status MakePrivateFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Unavailable("folder '{}' cannot be made: {}", path, std::strerror(errno));
  }
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) {
    return Unavailable("folder '{}': {}", path, std::strerror(errno));
  }
  const bool is_ours = S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  if (!is_ours || ((status.st_mode & 0077) != 0 && chmod(path.c_str(), 0700) != 0)) {
    return absl::PermissionDeniedError(fmt::format("'{}' is not a folder of this user", path));
  }
  return absl::OkStatus();
}

// Where the path of a socket in the folder of runs is too long. The same for the same folder of runs.
std::string ShortFolder(const std::string& runs_directory) {
  base::Sha256 hash;
  hash.Add(runs_directory);
  return fmt::format("/tmp/vernier-{}-{}", geteuid(), hash.Hex().substr(0, 16));
}

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool SetsPath(const TrainingJob& job) {
  return job.env.contains("PATH") || std::ranges::any_of(job.replicas, [](const auto& entry) {
           return entry.second.env.contains("PATH");
         });
}

// The PATH on which programs find `vernier`; nothing if they find it anyway, or it is not beside this program.
std::optional<std::string> PathWithVernier() {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return std::nullopt;
  for (const auto folder : absl::StrSplit(path, ':')) {
    if (IsProgram(fs::path(std::string(folder)) / "vernier")) return std::nullopt;
  }
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error || !IsProgram(own / "vernier")) return std::nullopt;
  return fmt::format("{}:{}", path, own.string());
}

}  // namespace

absl::StatusOr<std::string> LoadTokenSecret(const std::string& runs_directory) {
  std::error_code error;
  fs::create_directories(runs_directory, error);
  const std::string path = runs_directory + kSecretFile;
  absl::StatusOr<std::string> stored = base::ReadFile(path);
  if (stored.ok() && stored->size() >= 2 * kSecretBytes) return stored;
  if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
  const std::string secret = base::RandomHex(kSecretBytes);
  if (!launch::ReplaceFile(path, secret, /*durable=*/true)) {
    return Unavailable("'{}' cannot be written: {}", path, std::strerror(errno));
  }
  return secret;
}

absl::StatusOr<std::string> PrepareReportSocket(const std::string& runs_directory) {
  std::string folder = runs_directory + kSocketFolder;
  if (folder.size() + std::strlen(kSocketFile) > kLongestSocketPath) {
    folder = ShortFolder(runs_directory);
  }
  VERNIER_RETURN_IF_ERROR(MakePrivateFolder(folder));
  return folder + kSocketFile;
}

ReportingAccess AccessOf(const std::string& address,
                         const service::AttemptTokens& tokens,
                         const StudySpec& spec,
                         const AttemptId& id) {
  ReportingAccess access;
  access.variables = {{"VERNIER_ADDRESS", address},
                      {"VERNIER_TRIAL_NAME", wire::TrialResource(spec.name, id.trial.number)},
                      {"VERNIER_TOKEN", tokens.Make(id)}};
  if (address.starts_with(kUnix)) {
    access.folder = fs::path(address.substr(kUnix.size())).parent_path().string();
  }
  if (RunsImages(*spec.job) || SetsPath(*spec.job)) return access;
  if (auto path = PathWithVernier()) access.variables["PATH"] = *std::move(path);
  return access;
}

}  // namespace vernier::app
