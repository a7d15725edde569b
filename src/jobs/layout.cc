// The same job, point and placement always give the same program: an attempt that is started again after a crash must
// get what it was placed with. Why submitted jobs run in a folder of their own:
// docs/adr/0032-a-folder-for-each-replica.md.

#include "src/jobs/layout.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/jobs/environment.h"
#include "src/jobs/replica_command.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

// The order of a gang's replicas everywhere; the first one is the primary.
// Ports of stand-ins begin here: above every real port, and unlikely in a program's own arguments.
constexpr std::int32_t kFirstStandInPort = 2'000'000'000;

constexpr Role kOrder[] = {Role::kPrimary, Role::kWorker, Role::kParameterServer, Role::kEvaluator};

// The folders of the host that containers see: the working directory, if the job or role sets one, and the job's
// directory.
std::optional<ReplicaContainer> ContainerOf(const TrainingJob& job,
                                            const ReplicaSpec& replica,
                                            const std::string& directory) {
  if (job.image.empty()) return std::nullopt;
  ReplicaContainer container{.image = replica.image.empty() ? job.image : replica.image,
                             .replaces_entry_point = HasOwnCommand(job, replica),
                             .directory = {},
                             .mounts = {}};
  if (RunsInOwnFolder(job)) {
    container.directory = directory;  // Inside the replica's folder, which is always mounted.
  } else if (!job.working_directory.empty() || !replica.directory.empty()) {
    container.directory = directory;
    container.mounts.push_back(directory);
  }
  if (const auto jobs = LocalPath(job.job_directory)) {
    container.mounts.push_back(Below(directory, *jobs));
  }
  return container;
}

GangNeeds NeedsOf(const TrainingJob& job) {
  GangNeeds needs{.python = job.python, .directory = job.working_directory, .images = {}};
  std::set<std::string> images;
  for (const auto& [role, replica] : job.replicas) {
    if (replica.count == 0 || job.image.empty()) continue;
    images.insert(replica.image.empty() ? job.image : replica.image);
  }
  needs.images.assign(images.begin(), images.end());
  return needs;
}

// The replica's own working folder, for jobs that use one.
std::string OwnFolder(const std::string& replica_directory) { return replica_directory + "/work"; }

// Adds the folders that must exist: the replica's own, and that of --job-dir.
void AddFolders(const StudySpec& spec,
                TrialNumber trial,
                const std::string& own,
                ReplicaProgram& program) {
  const TrainingJob& job = *spec.job;
  if (RunsInOwnFolder(job)) program.folders.push_back(OwnFolder(own));
  if (job.code.has_value()) {
    program.code = {.archive = LocalPath(job.code->archive).value_or(job.code->archive),
                    .folder = OwnFolder(own)};
  }
  if (const auto output = LocalPath(JobDirectory(spec, trial))) {
    program.folders.push_back(Below(program.directory, *output));
  }
}

absl::StatusOr<ReplicaProgram> MakeReplica(const AttemptId& id,
                                           const StudySpec& spec,
                                           const Trial& trial,
                                           Role role,
                                           const PlacedGang& placed,
                                           std::size_t i,
                                           std::string_view working_directory) {
  const ReplicaPlacement& placement = placed.placement[i];
  const ReplicaSpec& replica = spec.job->replicas.at(role);
  const std::string own = ReplicaDirectory(placed.directory, placement.role, placement.index);
  const std::string parameters_file = own + "/parameters.json";
  VERNIER_ASSIGN_OR_RETURN(
      ReplicaCommand command,
      CommandOf(spec,
                trial,
                role,
                RunsInOwnFolder(*spec.job) ? OwnFolder(own) : std::string(working_directory),
                parameters_file));
  ReplicaProgram program{.role = placement.role,
                         .index = placement.index,
                         .argv = std::move(command.argv),
                         .container = ContainerOf(*spec.job, replica, command.directory),
                         .runs_python = spec.job->python.has_value() && replica.command.empty(),
                         .env = DefaultVariables(placed.placement),
                         .directory = command.directory,
                         .folders = {},
                         .code = {},
                         .files = {},
                         .metric_file = own + "/hypertune.metrics",
                         .log_file = own + "/output.log"};
  AddFolders(spec, trial.number, own, program);
  if (command.reads_parameters_file) {
    program.files[parameters_file] = ParametersJson(trial.point, spec.space) + "\n";
  }
  for (const auto& [name, value] : command.env) program.env[name] = value;
  program.secrets = std::move(command.secrets);
  for (auto& [name, value] :
       ServiceVariables(id, spec, trial.point, placed.placement, i, program.metric_file)) {
    program.env[name] = value;
  }
  // Precedence: a service variable wins over a secret, a secret over a plain value.
  std::erase_if(program.secrets,
                [](const auto& secret) { return IsServiceVariable(secret.first); });
  for (const auto& [name, secret] : program.secrets) program.env.erase(name);
  return program;
}

}  // namespace

GangRequest MakeGangRequest(const AttemptId& id, const StudySpec& spec) {
  const TrainingJob& job = *spec.job;
  // `parallel`: a budget of fewer trials than may run at once bounds how many share the host.
  GangRequest request{.id = id,
                      .study = spec.name,
                      .cluster = job.cluster,
                      .replicas = {},
                      .priority = job.priority,
                      .time_limit = {},
                      .parallel = static_cast<std::int32_t>(std::min<std::int64_t>(
                          spec.parallel, spec.budget.trials.value_or(spec.parallel))),
                      .needs = NeedsOf(job)};
  // The grace period belongs to the time for which a gang may hold its room.
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

ReplicaPlacement StandIn(ReplicaPlacement placement, std::size_t i) {
  if (!placement.host.empty()) return placement;
  placement.host = fmt::format("{}-{}.vernier.invalid", placement.role, placement.index);
  placement.port = kFirstStandInPort + static_cast<std::int32_t>(i);
  return placement;
}

absl::StatusOr<GangProgram> MakeGangProgram(const AttemptId& id,
                                            const StudySpec& spec,
                                            const Trial& trial,
                                            const PlacedGang& placed,
                                            std::string_view working_directory) {
  VERNIER_RETURN_IF_ERROR(ValidateJob(spec));
  PlacedGang addressed = placed;
  for (std::size_t k = 0; k < addressed.placement.size(); ++k) {
    addressed.placement[k] = StandIn(std::move(addressed.placement[k]), k);
  }
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
    for (std::int32_t index = 0; index < replica->second.count; ++index, ++i) {
      VERNIER_CHECK(i < placed.placement.size(), "the placement is of another job");
      VERNIER_ASSIGN_OR_RETURN(gang.replicas.emplace_back(),
                               MakeReplica(id, spec, trial, role, addressed, i, working_directory));
    }
  }
  return gang;
}

absl::Status ValidateJob(const StudySpec& spec) {
  return spec.job.has_value() ? CheckCommands(spec) : absl::OkStatus();
}

std::optional<std::string> LocalPath(std::string_view text) {
  constexpr std::string_view kFile = "file://";
  if (text.starts_with(kFile)) text.remove_prefix(kFile.size());
  if (text.empty() || text.find("://") != std::string_view::npos) return std::nullopt;
  return std::string(text);
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
