#include "src/launch/gang/attempt_folder.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/base/private_folder.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/jobs/secret_file.h"
#include "src/launch/gang/gang_records.h"

namespace vernier::launch {
namespace {

// The ids of the user who packed the code mean nothing where it is unpacked. Without translations, so that the supervisor
// recognises a full disk in what tar says.
std::vector<std::string> UnpackCommand(const ReplicaProgram::Code& code) {
  return {"env", "LC_ALL=C", "tar", "-xzf", code.archive, "-C", code.folder, "--no-same-owner"};
}

}  // namespace

std::string AttemptName(const AttemptId& id) {
  return fmt::format("attempt {} of trial {}", id.number.value(), id.trial.number.value());
}

absl::Status MakeFolder(const std::string& path) {
  const std::error_code error = base::MakePrivateFolders(path);
  if (error) return NotWritten("cannot create folder", path, error.value());
  return absl::OkStatus();
}

absl::StatusOr<std::string> NewAttemptFolder(const std::string& root, const GangRequest& request) {
  const std::string wanted = fmt::format("{}/{}/trial-{}/attempt-{}",
                                         root,
                                         request.study,
                                         request.id.trial.number.value(),
                                         request.id.number.value());
  std::string directory = wanted;
  for (int copy = 2;; ++copy) {
    VERNIER_RETURN_IF_ERROR(MakeFolder(directory));
    std::error_code error;
    if (std::filesystem::is_empty(directory, error)) return directory;
    if (error) return Unavailable("cannot read folder '{}': {}", directory, error.message());
    directory = fmt::format("{}~{}", wanted, copy);
  }
}

std::string ReplicaFolder(const PlacedGang& placed, std::size_t i) {
  const ReplicaPlacement& replica = placed.placement[i];
  return jobs::ReplicaDirectory(placed.directory, replica.role, replica.index);
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SecretFiles(
    const ReplicaProgram& program, const std::string& secrets_directory) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, secret] : program.secrets) {
    VERNIER_ASSIGN_OR_RETURN(std::string file, jobs::PathOfSecret(secret, secrets_directory));
    files.emplace_back(name, std::move(file));
  }
  return files;
}

absl::Status PrepareReplica(const GangProgram& gang,
                            const ReplicaProgram& program,
                            const std::string& folder,
                            SupervisedProgram& supervised) {
  supervised.grace_ms = absl::ToInt64Milliseconds(gang.grace);
  supervised.output_bytes = gang.output_bytes;
  supervised.restarts = gang.restarts.replica;
  supervised.lenient = gang.restarts.reading == FailureReading::kLenient;
  supervised.env.emplace_back(kReplicaVariable, folder);
  for (const std::string& made : program.folders) VERNIER_RETURN_IF_ERROR(MakeFolder(made));
  if (program.code.has_value()) supervised.setup = UnpackCommand(*program.code);
  for (const auto& [path, content] : program.files) {
    if (!ReplaceFile(path, content, /*durable=*/false)) {
      return NotWritten("cannot write", path, errno);
    }
  }
  return absl::OkStatus();
}

absl::Status WriteProgram(const std::string& folder, const SupervisedProgram& supervised) {
  const std::string path = folder + "/" + kProgramFile;
  if (!ReplaceFile(path, EncodeProgram(supervised), /*durable=*/false)) {
    return NotWritten("cannot write to", folder, errno);
  }
  return absl::OkStatus();
}

}  // namespace vernier::launch
