#include "src/core/training_job_validation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "fmt/format.h"
#include "src/core/built_in_trainers.h"
#include "src/core/nearest.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier {
namespace {

// A choice: 1 MiB, enough for the messages of a failing program.
constexpr std::int64_t kLeastOutput = std::int64_t{1} << 20;

bool IsNameStart(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

absl::Status CheckVariableName(std::string_view path, const std::string& name) {
  const bool is_legal = !name.empty() && IsNameStart(name.front()) &&
                        std::all_of(name.begin(), name.end(), IsNamePart);
  if (is_legal) return absl::OkStatus();
  return FieldError(
      fmt::format("{}.env", path),
      fmt::format("a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$, got '{}'", name));
}

// Whether the name is a file directly in the folder of secrets. It must not lead out of the folder.
bool IsSecretName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

absl::Status CheckSecret(const std::string& path, const SecretSource& secret) {
  if (secret.from_file.empty() == secret.name.empty()) {
    return FieldError(path, "needs either from_file or secret");
  }
  const std::string& file = secret.from_file;
  if (!file.empty() && !file.starts_with('/') && !file.starts_with("~/")) {
    return FieldError(path + ".from_file",
                      fmt::format("must be an absolute path or begin with ~/, got '{}'", file));
  }
  // The system would end the name there, and open another file.
  if (file.find('\0') != std::string::npos) {
    return FieldError(path + ".from_file", "must not hold a zero byte");
  }
  if (!secret.name.empty() && !IsSecretName(secret.name)) {
    return FieldError(
        path + ".secret",
        fmt::format("must be the name of a file without / and not begin with a dot, got '{}'",
                    secret.name));
  }
  return absl::OkStatus();
}

absl::Status CheckEnvironment(std::string_view path,
                              const std::map<std::string, std::string>& environment,
                              const std::map<std::string, SecretSource>& secrets) {
  for (const auto& [name, secret] : secrets) {
    VERNIER_RETURN_IF_ERROR(CheckVariableName(path, name));
    const std::string field = fmt::format("{}.env.{}", path, name);
    // A program gets one value for a name, and it would be open which.
    if (environment.contains(name)) return FieldError(field, "is both a value and a secret");
    VERNIER_RETURN_IF_ERROR(CheckSecret(field, secret));
  }
  for (const auto& [name, value] : environment) {
    VERNIER_RETURN_IF_ERROR(CheckVariableName(path, name));
    if (value.find('\0') != std::string::npos) {
      return FieldError(fmt::format("{}.env.{}", path, name), "must not hold a zero byte");
    }
  }
  return absl::OkStatus();
}

// Checks words of a command line, which the system terminates with a zero byte.
absl::Status CheckWords(std::string_view path, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].find('\0') == std::string::npos) continue;
    return FieldError(fmt::format("{}[{}]", path, i), "must not hold a zero byte");
  }
  return absl::OkStatus();
}

// An empty command is legal: it stands for that of the job, the Python module or the image.
absl::Status CheckCommand(std::string_view path, const std::vector<std::string>& command) {
  if (!command.empty() && command.front().empty()) {
    return FieldError(fmt::format("{}[0]", path), "must name a program");
  }
  return CheckWords(path, command);
}

absl::Status CheckResources(std::string_view path, const Resources& resources) {
  // Written so that NaN is refused, too.
  if (!(resources.cpus >= 0) || !std::isfinite(resources.cpus)) {
    return FieldError(fmt::format("{}.cpus", path),
                      fmt::format("must be 0 or more, got {}", resources.cpus));
  }
  if (resources.memory_bytes < 0) {
    return FieldError(fmt::format("{}.memory", path),
                      fmt::format("must not be negative, got {}", resources.memory_bytes));
  }
  if (resources.gpus < 0) {
    return FieldError(fmt::format("{}.gpus", path),
                      fmt::format("must not be negative, got {}", resources.gpus));
  }
  if (resources.gpu_memory_bytes < 0) {
    return FieldError(fmt::format("{}.gpu_memory", path),
                      fmt::format("must not be negative, got {}", resources.gpu_memory_bytes));
  }
  if (resources.gpu_memory_bytes > 0 && resources.gpus == 0) {
    return FieldError(fmt::format("{}.gpu_memory", path),
                      "is of each of the gpus, and the replica asks for none");
  }
  return absl::OkStatus();
}

// Checks an image's name. It becomes a word of the container engine's command line and must not look like an option.
absl::Status CheckImageName(std::string_view path, const std::string& image) {
  const bool is_word = std::ranges::all_of(image, [](char c) { return c > ' ' && c < '\x7f'; });
  if (is_word && !image.starts_with('-')) return absl::OkStatus();
  return FieldError(
      path,
      fmt::format("must be an image's name such as docker.io/org/trainer:1, got '{}'", image));
}

absl::Status CheckImageOfRole(std::string_view path,
                              const ReplicaSpec& replica,
                              const TrainingJob& job) {
  const std::string field = fmt::format("{}.image", path);
  // A training input gives its images by role, so that the job itself has none.
  if (!replica.image.empty() && job.image.empty() && !job.input) {
    return FieldError(field, "needs job.image: either every replica runs in an image, or none");
  }
  return CheckImageName(field, replica.image);
}

// Checks a path of a job with images. A container sees folders of the host under the same absolute path, and not the
// server's working directory, so that a relative path needs a working directory of the job.
absl::Status CheckPathForImage(std::string_view field,
                               const std::string& path,
                               const TrainingJob& job) {
  const bool is_found = path.empty() || path.starts_with('/') || path.find("://") != path.npos ||
                        !job.working_directory.empty() || job.code.has_value();
  if (is_found || !RunsImages(job)) return absl::OkStatus();
  return FieldError(
      field, fmt::format("must be absolute with an image and no working_dir, got '{}'", path));
}

// Lower case only, since hashes are compared as text.
bool IsHash(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Whether a path, relative to a folder, leads out of the folder.
// By the text alone: the folder need not exist where this is checked.
bool LeavesFolder(std::string_view path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

absl::Status CheckCode(const TrainingJob& job) {
  if (!job.code.has_value()) return absl::OkStatus();
  const CodeSnapshot& code = *job.code;
  // The client gives a folder, and the server gets the archive made of it.
  if (code.folder.empty() && code.archive.empty()) {
    return FieldError("job.code", "must name a folder such as '.', got ''");
  }
  if (!code.sha256.empty() && !IsHash(code.sha256)) {
    return FieldError("job.code.sha256",
                      fmt::format("must be 64 hexadecimal digits, got '{}'", code.sha256));
  }
  // Each replica has its own copy of the code; a path that leads out of it would be shared, or missing.
  static constexpr char kBelow[] = "must be below the folder of job.code, got '{}'";
  if (LeavesFolder(job.working_directory)) {
    return FieldError("job.working_dir", fmt::format(kBelow, job.working_directory));
  }
  for (const auto& [role, replica] : job.replicas) {
    if (!LeavesFolder(replica.directory)) continue;
    return FieldError(fmt::format("job.replicas.{}.directory", RoleName(role, job)),
                      fmt::format(kBelow, replica.directory));
  }
  return absl::OkStatus();
}

absl::Status CheckImage(const TrainingJob& job) {
  VERNIER_RETURN_IF_ERROR(CheckImageName("job.image", job.image));
  if (!job.image.empty() && job.python.has_value()) {
    return FieldError("job.image", "cannot go with job.python; give one of them");
  }
  return CheckPathForImage(
      job.input.has_value() ? "trainingInput.jobDir" : "job.dir", job.job_directory, job);
}

absl::Status CheckReplica(std::string_view path,
                          const ReplicaSpec& replica,
                          const TrainingJob& job) {
  if (replica.count < 0 || replica.count > limits::kReplicas) {
    return FieldError(
        fmt::format("{}.count", path),
        fmt::format("must be from 0 to {}, got {}", limits::kReplicas, replica.count));
  }
  const bool runs_something = !replica.command.empty() || !job.command.empty() ||
                              !job.image.empty() || job.python || job.input;
  // A role without replicas may stay in the definition, and needs no program.
  if (replica.count > 0 && !runs_something) {
    return FieldError("job.command", fmt::format("must not be empty; {} has none either", path));
  }
  VERNIER_RETURN_IF_ERROR(CheckImageOfRole(path, replica, job));
  VERNIER_RETURN_IF_ERROR(
      CheckPathForImage(fmt::format("{}.directory", path), replica.directory, job));
  VERNIER_RETURN_IF_ERROR(CheckCommand(fmt::format("{}.command", path), replica.command));
  VERNIER_RETURN_IF_ERROR(CheckWords(fmt::format("{}.args", path), replica.args));
  VERNIER_RETURN_IF_ERROR(CheckEnvironment(path, replica.env, replica.secrets));
  return CheckResources(path, replica.resources);
}

// As `python -m` takes it: identifiers, joined by dots.
bool IsModuleName(const std::string& name) {
  bool part = false;  // Whether a part of the name has begun.
  for (const char c : name) {
    if (c == '.' && !part) return false;
    if (c != '.' && !(part ? IsNamePart(c) : IsNameStart(c))) return false;
    part = c != '.';
  }
  return part;
}

// Checks a built-in trainer: its name must be known, and its replicas be a chief and, for some, workers.
absl::Status CheckBuiltIn(const TrainingJob& job) {
  if (!job.python.has_value() || !IsBuiltInModule(job.python->module)) return absl::OkStatus();
  const std::string_view trainer = BuiltInTrainer(job.python->module);
  if (std::ranges::find(kBuiltInTrainers, trainer) == kBuiltInTrainers.end()) {
    const std::vector<std::string> known(kBuiltInTrainers.begin(), kBuiltInTrainers.end());
    return FieldError("job.python.module",
                      fmt::format("unknown trainer '{}'{}", trainer, NearestHint(trainer, known)));
  }
  for (const auto& [role, replica] : job.replicas) {
    if (role == Role::kPrimary || replica.count == 0) continue;
    if (role == Role::kWorker && TakesWorkers(trainer)) continue;
    return FieldError(fmt::format("job.replicas.{}.count", RoleName(role, job)),
                      fmt::format("must be 0, since trainer {} runs in {}, got {}",
                                  trainer,
                                  TakesWorkers(trainer) ? "a chief and workers" : "one replica",
                                  replica.count));
  }
  return absl::OkStatus();
}

absl::Status CheckPython(const TrainingJob& job) {
  if (!job.python.has_value()) return absl::OkStatus();
  if (!job.command.empty()) {
    return FieldError("job.python", "cannot go with job.command; give one of them");
  }
  if (!IsModuleName(job.python->module)) {
    return FieldError("job.python.module",
                      fmt::format("must be a module's dotted name such as trainer.task, got '{}'",
                                  job.python->module));
  }
  const std::vector<std::string>& packages = job.python->packages;
  if (packages.size() > limits::kPackages) {
    return FieldError(
        "job.python.packages",
        fmt::format("must be at most {}, got {}", limits::kPackages, packages.size()));
  }
  for (std::size_t i = 0; i < packages.size(); ++i) {
    // It becomes a word of the command line of pip and must not look like an option.
    if (!packages[i].empty() && !packages[i].starts_with('-')) continue;
    return FieldError(
        fmt::format("job.python.packages[{}]", i),
        fmt::format("must be a path, a URL or a package's name, got '{}'", packages[i]));
  }
  return CheckWords("job.python.packages", packages);
}

// A single replica of another role is most likely meant as the chief, so the message says how to write that.
absl::Status MissingPrimary(const TrainingJob& job) {
  constexpr char kPath[] = "job.replicas";
  const bool has_one_replica = job.replicas.size() == 1 && job.replicas.begin()->second.count == 1;
  if (has_one_replica) {
    return FieldError(kPath,
                      fmt::format("needs a chief, whose exit ends the job: write `chief:` in place "
                                  "of `{}:`, or add `chief: 1`",
                                  RoleName(job.replicas.begin()->first, job)));
  }
  return FieldError(kPath,
                    "needs a chief, whose exit ends the job: add `chief: 1`, or `chief: {gpus: 1}` "
                    "to give it a GPU");
}

absl::Status CheckPrimary(const TrainingJob& job) {
  if (job.primary_name != "chief" && job.primary_name != "master") {
    return FieldError("job.primary_name",
                      fmt::format("must be 'chief' or 'master', got '{}'", job.primary_name));
  }
  const auto primary = job.replicas.find(Role::kPrimary);
  if (primary == job.replicas.end()) return MissingPrimary(job);
  const std::int32_t count = primary->second.count;
  if (count == 1) return absl::OkStatus();
  return FieldError(fmt::format("job.replicas.{}.count", job.primary_name),
                    fmt::format("must be 1, got {}", count));
}

absl::Status CheckTimeLimit(std::string_view name, const std::optional<absl::Duration>& limit) {
  if (!limit.has_value()) return absl::OkStatus();
  return CheckPositive(fmt::format("job.limits.{}", name), *limit);
}

absl::Status CheckRestarts(std::string_view name, std::int32_t count) {
  if (count >= 0 && count <= limits::kRestarts) return absl::OkStatus();
  return FieldError(fmt::format("job.restarts.{}", name),
                    fmt::format("must be from 0 to {}, got {}", limits::kRestarts, count));
}

}  // namespace

absl::Status CheckTrainingJob(const TrainingJob& job) {
  // First, since the paths of later errors have the name of the primary.
  VERNIER_RETURN_IF_ERROR(CheckPrimary(job));
  for (const auto& [role, replica] : job.replicas) {
    const std::string path = fmt::format("job.replicas.{}", RoleName(role, job));
    VERNIER_RETURN_IF_ERROR(CheckReplica(path, replica, job));
  }
  VERNIER_RETURN_IF_ERROR(CheckCode(job));
  VERNIER_RETURN_IF_ERROR(CheckImage(job));
  VERNIER_RETURN_IF_ERROR(CheckCommand("job.command", job.command));
  VERNIER_RETURN_IF_ERROR(CheckPython(job));
  VERNIER_RETURN_IF_ERROR(CheckBuiltIn(job));
  VERNIER_RETURN_IF_ERROR(CheckWords("job.args", job.args));
  VERNIER_RETURN_IF_ERROR(CheckEnvironment("job", job.env, job.secrets));
  VERNIER_RETURN_IF_ERROR(CheckTimeLimit("time", job.time_limit));
  VERNIER_RETURN_IF_ERROR(CheckTimeLimit("trial", job.trial_limit));
  VERNIER_RETURN_IF_ERROR(CheckTimeLimit("wait", job.wait_limit));
  VERNIER_RETURN_IF_ERROR(CheckTimeLimit("progress", job.progress_limit));
  if (job.nan_limit.has_value() && *job.nan_limit < 1) {
    return FieldError("job.limits.nan", fmt::format("must be 1 or more, got {}", *job.nan_limit));
  }
  VERNIER_RETURN_IF_ERROR(CheckRestarts("replica", job.restarts.replica));
  VERNIER_RETURN_IF_ERROR(CheckRestarts("job", job.restarts.job));
  VERNIER_RETURN_IF_ERROR(CheckRestarts("internal", job.restarts.internal));
  // 0s is legal: SIGKILL then follows SIGTERM at once.
  if (job.grace < absl::ZeroDuration() || job.grace == absl::InfiniteDuration()) {
    return FieldError("job.limits.grace",
                      fmt::format("must be from 0s up, got {}", absl::FormatDuration(job.grace)));
  }
  if (job.output_bytes < kLeastOutput) {
    return FieldError("job.limits.output",
                      fmt::format("must be at least 1MiB, got {} bytes", job.output_bytes));
  }
  if (job.priority < 0 || job.priority > limits::kPriority) {
    return FieldError("job.priority",
                      fmt::format("must be from 0 to {}, got {}", limits::kPriority, job.priority));
  }
  return absl::OkStatus();
}

absl::Status CheckPositive(std::string_view path, absl::Duration duration) {
  if (duration > absl::ZeroDuration() && duration < absl::InfiniteDuration()) {
    return absl::OkStatus();
  }
  return FieldError(path, fmt::format("must be above 0s, got {}", absl::FormatDuration(duration)));
}

}  // namespace vernier
