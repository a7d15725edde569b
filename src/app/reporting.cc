// A token is an HMAC over the ids of an attempt, so nothing is stored for it, a restarted server knows it, and a later
// attempt has another one. Without the secret, which lies with the runs, running programs can no longer report; nothing
// else is lost.

#include "src/app/reporting.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/app/listen_address.h"
#include "src/app/paths.h"
#include "src/base/files.h"
#include "src/base/private_folder.h"
#include "src/base/random_hex.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "src/wire/names.h"

namespace vernier::app {
namespace {

// Most bytes read of the secret file; more than it ever has.
constexpr std::int64_t kMostSecret = 4096;

namespace fs = std::filesystem;

// 256 random bits, the output size of the HMAC that uses them.
constexpr std::size_t kSecretBytes = 32;
constexpr char kSecretFile[] = "/.secret";
constexpr char kSocketFolder[] = "/.report";
constexpr char kSocketFile[] = "/socket";

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// Such a job's PATH is left alone: its user has said what programs should find.
bool SetsPath(const TrainingJob& job) {
  return job.env.contains("PATH") || std::ranges::any_of(job.replicas, [](const auto& entry) {
           return entry.second.env.contains("PATH");
         });
}

// PATH with the folder of `vernier` at its end; nothing if programs find it anyway, or it is not beside this program.
std::optional<std::string> PathWithVernier() {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return std::nullopt;
  for (const auto folder : absl::StrSplit(path, ':')) {
    // Programs find it already.
    if (IsProgram(fs::path(std::string(folder)) / "vernier")) return std::nullopt;
  }
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error || !IsProgram(own / "vernier")) return std::nullopt;
  // At the end, so that no other program of that folder replaces one that the job expects.
  return fmt::format("{}:{}", path, own.string());
}

}  // namespace

absl::StatusOr<std::string> LoadTokenSecret(const std::string& runs_directory) {
  base::MakePrivateFolders(runs_directory);  // An error shows when the file is written.
  const std::string path = runs_directory + kSecretFile;
  absl::StatusOr<std::string> stored = base::ReadFile(path, kMostSecret);
  // A shorter one was not written by us, or not to its end, and is replaced.
  if (stored.ok() && stored->size() >= 2 * kSecretBytes) return stored;
  // An unreadable secret is an error: a new one would void the tokens of programs that run.
  if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
  const std::string secret = base::RandomHex(kSecretBytes);
  // Durable: tokens made with a secret that is lost on a crash could not be checked any more.
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
  // In a container, the folder has to be mounted for the socket to be seen.
  if (const auto socket = SocketPathOf(address)) {
    access.folder = fs::path(*socket).parent_path().string();
  }
  // A container has a PATH, and perhaps a `vernier`, of its own.
  if (RunsImages(*spec.job) || SetsPath(*spec.job)) return access;
  if (auto path = PathWithVernier()) access.variables["PATH"] = *std::move(path);
  return access;
}

}  // namespace vernier::app
