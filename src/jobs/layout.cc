#include "src/jobs/layout.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/jobs/environment.h"
#include "src/jobs/placeholders.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

constexpr Role kOrder[] = {Role::kPrimary, Role::kWorker, Role::kParameterServer, Role::kEvaluator};

// A text of the job that may hold placeholders, and where the user wrote it.
struct Source {
  std::string text;
  std::string path;
};

std::string RolePath(const TrainingJob& job, Role role) {
  return "job.replicas." + RoleName(role, job);
}

void Append(const std::vector<std::string>& texts,
            const std::string& path,
            std::vector<Source>& sources) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    sources.push_back({texts[i], fmt::format("{}[{}]", path, i)});
  }
}

// Command and arguments of a role, as the user wrote them.
std::vector<Source> CommandSources(const TrainingJob& job, Role role, const ReplicaSpec& replica) {
  std::vector<Source> sources;
  if (!replica.command.empty()) {
    Append(replica.command, RolePath(job, role) + ".command", sources);
  } else if (job.python.has_value()) {
    Append({"python3", "-m", job.python->module}, "job.python", sources);
  } else {
    Append(job.command, "job.command", sources);
  }
  Append(job.args, "job.args", sources);
  Append(replica.args, RolePath(job, role) + ".args", sources);
  return sources;
}

std::map<std::string, Source> EnvironmentSources(const TrainingJob& job,
                                                 Role role,
                                                 const ReplicaSpec& replica) {
  std::map<std::string, Source> sources;
  for (const auto& [name, text] : job.env) sources[name] = {text, "job.env." + name};
  for (const auto& [name, text] : replica.env) {
    sources[name] = {text, RolePath(job, role) + ".env." + name};
  }
  return sources;
}

bool HasOwnCommand(const TrainingJob& job, const ReplicaSpec& replica) {
  return !replica.command.empty() || !job.command.empty();
}

std::string Below(std::string_view base, std::string_view path) {
  if (path.empty()) return std::string(base);
  if (path.front() == '/') return std::string(path);
  return fmt::format("{}/{}", base, path);
}

// What the replicas of one role share.
struct RoleTemplate {
  std::vector<std::string> argv;
  bool runs_python = false;
  std::map<std::string, std::string> env;
  std::string directory;
  std::optional<ReplicaContainer> container;
};

absl::Status FillCommand(const StudySpec& spec,
                         const Trial& trial,
                         const std::vector<Source>& sources,
                         RoleTemplate& result) {
  for (const Source& source : sources) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<std::string> text,
                             Substitute(source.text, spec.space, trial.point, source.path));
    if (text.has_value()) result.argv.push_back(*std::move(text));
  }
  if (std::string directory = JobDirectory(spec, trial.number); !directory.empty()) {
    result.argv.emplace_back("--job-dir");
    result.argv.push_back(std::move(directory));
  }
  return absl::OkStatus();
}

absl::Status FillEnvironment(const StudySpec& spec,
                             const Trial& trial,
                             const std::map<std::string, Source>& sources,
                             RoleTemplate& result) {
  for (const auto& [name, source] : sources) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<std::string> text,
                             Substitute(source.text, spec.space, trial.point, source.path));
    if (text.has_value()) result.env[name] = *std::move(text);
  }
  return absl::OkStatus();
}

void AppendParameters(const StudySpec& spec,
                      const Trial& trial,
                      const std::set<std::string>& placed,
                      std::vector<std::string>& argv) {
  for (const Parameter& parameter : spec.space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    if (value == trial.point.end() || placed.contains(parameter.name)) continue;
    argv.push_back(fmt::format("--{}={}", parameter.name, FormatValue(value->second)));
  }
}

// What containers see of the host: the working directory, if one is given, and the job's directory.
std::optional<ReplicaContainer> ContainerOf(const TrainingJob& job,
                                            const ReplicaSpec& replica,
                                            const std::string& directory) {
  if (job.image.empty()) return std::nullopt;
  ReplicaContainer container{.image = replica.image.empty() ? job.image : replica.image,
                             .replaces_entry_point = HasOwnCommand(job, replica),
                             .directory = {},
                             .mounts = {}};
  if (!job.working_directory.empty() || !replica.directory.empty()) {
    container.directory = directory;
    container.mounts.push_back(directory);
  }
  constexpr std::string_view kFile = "file://";
  std::string_view jobs = job.job_directory;
  if (jobs.starts_with(kFile)) jobs.remove_prefix(kFile.size());
  if (!jobs.empty() && jobs.find("://") == std::string_view::npos) {
    container.mounts.push_back(Below(directory, jobs));
  }
  return container;
}

absl::StatusOr<RoleTemplate> FillRole(const StudySpec& spec,
                                      const Trial& trial,
                                      Role role,
                                      std::string_view working_directory) {
  const TrainingJob& job = *spec.job;
  const ReplicaSpec& replica = job.replicas.at(role);
  const std::vector<Source> command = CommandSources(job, role, replica);
  const std::map<std::string, Source> environment = EnvironmentSources(job, role, replica);
  std::set<std::string> placed;
  for (const Source& source : command) placed.merge(PlaceholderNames(source.text));
  for (const auto& [name, source] : environment) placed.merge(PlaceholderNames(source.text));

  RoleTemplate result;
  result.runs_python = job.python.has_value() && replica.command.empty();
  VERNIER_RETURN_IF_ERROR(FillCommand(spec, trial, command, result));
  AppendParameters(spec, trial, placed, result.argv);
  VERNIER_RETURN_IF_ERROR(FillEnvironment(spec, trial, environment, result));
  result.directory = Below(Below(working_directory, job.working_directory), replica.directory);
  result.container = ContainerOf(job, replica, result.directory);
  return result;
}

ReplicaProgram MakeReplica(const AttemptId& id,
                           const StudySpec& spec,
                           const Trial& trial,
                           const PlacedGang& placed,
                           std::size_t i,
                           const RoleTemplate& role) {
  const ReplicaPlacement& placement = placed.placement[i];
  const std::string own = ReplicaDirectory(placed.directory, placement.role, placement.index);
  ReplicaProgram program{.role = placement.role,
                         .index = placement.index,
                         .argv = role.argv,
                         .container = role.container,
                         .runs_python = role.runs_python,
                         .env = DefaultVariables(placed.placement),
                         .directory = role.directory,
                         .metric_file = own + "/hypertune.metrics",
                         .log_file = own + "/output.log"};
  for (const auto& [name, value] : role.env) program.env[name] = value;
  for (auto& [name, value] :
       ServiceVariables(id, spec, trial.point, placed.placement, i, program.metric_file)) {
    program.env[name] = value;
  }
  return program;
}

absl::Status ValidateRole(const StudySpec& spec, Role role, const ReplicaSpec& replica) {
  const TrainingJob& job = *spec.job;
  const std::vector<Source> command = CommandSources(job, role, replica);
  if (!HasOwnCommand(job, replica) && !job.python.has_value() && job.image.empty()) {
    return FieldError(
        "job.command",
        fmt::format("must not be empty: replica '{}' has none of its own", RoleName(role, job)));
  }
  for (const Source& source : command) {
    VERNIER_RETURN_IF_ERROR(CheckPlaceholders(source.text, spec.space, source.path));
  }
  for (const auto& [name, source] : EnvironmentSources(job, role, replica)) {
    VERNIER_RETURN_IF_ERROR(CheckPlaceholders(source.text, spec.space, source.path));
  }
  return absl::OkStatus();
}

}  // namespace

GangRequest MakeGangRequest(const AttemptId& id, const StudySpec& spec) {
  const TrainingJob& job = *spec.job;
  GangRequest request{.id = id,
                      .study = spec.name,
                      .replicas = {},
                      .priority = job.priority,
                      .time_limit = {},
                      .parallel = static_cast<std::int32_t>(std::min<std::int64_t>(
                          spec.parallel, spec.budget.trials.value_or(spec.parallel)))};
  if (job.time_limit) request.time_limit = *job.time_limit + job.grace;
  for (const Role role : kOrder) {
    const auto replica = job.replicas.find(role);
    if (replica == job.replicas.end()) continue;
    for (std::int32_t index = 0; index < replica->second.count; ++index) {
      request.replicas.push_back(
          {.role = RoleName(role, job), .index = index, .resources = replica->second.resources});
    }
  }
  return request;
}

absl::StatusOr<GangProgram> MakeGangProgram(const AttemptId& id,
                                            const StudySpec& spec,
                                            const Trial& trial,
                                            const PlacedGang& placed,
                                            std::string_view working_directory) {
  VERNIER_RETURN_IF_ERROR(ValidateJob(spec));
  const TrainingJob& job = *spec.job;
  GangProgram gang{.id = id,
                   .placed = placed,
                   .replicas = {},
                   .python = job.python,
                   .time_limit = job.time_limit,
                   .restarts = job.restarts,
                   .grace = job.grace,
                   .output_bytes = job.output_bytes};
  std::size_t i = 0;
  for (const Role role : kOrder) {
    const auto replica = job.replicas.find(role);
    if (replica == job.replicas.end() || replica->second.count == 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const RoleTemplate filled,
                             FillRole(spec, trial, role, working_directory));
    for (std::int32_t index = 0; index < replica->second.count; ++index, ++i) {
      VERNIER_CHECK(i < placed.placement.size(), "the placement is of another job");
      gang.replicas.push_back(MakeReplica(id, spec, trial, placed, i, filled));
    }
  }
  return gang;
}

absl::Status ValidateJob(const StudySpec& spec) {
  if (!spec.job.has_value()) return absl::OkStatus();
  for (const auto& [role, replica] : spec.job->replicas) {
    if (replica.count > 0) VERNIER_RETURN_IF_ERROR(ValidateRole(spec, role, replica));
  }
  return absl::OkStatus();
}

std::string JobDirectory(const StudySpec& spec, TrialNumber trial) {
  const std::string& directory = spec.job->job_directory;
  if (directory.empty() || spec.objectives.empty()) return directory;
  return fmt::format("{}/{}", directory, trial.value());
}

std::string ReplicaDirectory(std::string_view attempt_directory,
                             std::string_view role,
                             std::int32_t index) {
  return fmt::format("{}/{}-{}", attempt_directory, role, index);
}

}  // namespace vernier::jobs
