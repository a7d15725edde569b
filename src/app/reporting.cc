#include "src/app/reporting.h"

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
#include "src/app/paths.h"
#include "src/base/files.h"
#include "src/base/keyed_hash.h"
#include "src/base/private_folder.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "src/wire/names.h"

namespace vernier::app {
namespace {

constexpr std::int64_t kMostSecret = 4096;

namespace fs = std::filesystem;

constexpr std::size_t kSecretBytes = 32;
constexpr char kSecretFile[] = "/.secret";
constexpr char kSocketFolder[] = "/.report";
constexpr char kSocketFile[] = "/socket";
constexpr std::string_view kUnix = "unix:";

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
  base::MakePrivateFolders(runs_directory);  // What is written there tells.
  const std::string path = runs_directory + kSecretFile;
  absl::StatusOr<std::string> stored = base::ReadFile(path, kMostSecret);
  if (stored.ok() && stored->size() >= 2 * kSecretBytes) return stored;
  if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
  const std::string secret = base::RandomHex(kSecretBytes);
  if (!launch::ReplaceFile(path, secret, /*durable=*/true)) {
    return Unavailable("'{}' cannot be written: {}", path, std::strerror(errno));
  }
  return secret;
}

absl::StatusOr<std::string> PrepareReportSocket(const std::string& runs_directory) {
  std::string socket = SocketPath(runs_directory + kSocketFolder + kSocketFile);
  VERNIER_RETURN_IF_ERROR(base::ClaimPrivateFolder(fs::path(socket).parent_path().string()));
  return socket;
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
