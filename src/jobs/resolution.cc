// Rules, limits and field names are those of AI Platform Training's API reference (projects.jobs, TrainingInput); field
// paths in errors are spelled as the user wrote them there. The input itself is kept unchanged, since programs read it
// from TF_CONFIG.

#include "src/jobs/resolution.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/built_in_trainers.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/core/training_job_validation.h"
#include "src/jobs/built_in_algorithms.h"
#include "src/jobs/input_error.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::jobs {
namespace {

// The minimum of scheduling.maxWaitTime in AI Platform Training.
constexpr absl::Duration kLeastWait = absl::Seconds(1800);

// The input for one role, with the API's name of the role.
struct RoleInput {
  Role role;
  std::string name;  // "parameterServer"
  const std::string& type;
  const std::optional<ReplicaConfig>& config;
  std::int64_t count;
};

std::vector<RoleInput> RolesOf(const TrainingInput& input) {
  return {{Role::kPrimary, "master", input.master_type, input.master_config, 1},
          {Role::kWorker, "worker", input.worker_type, input.worker_config, input.worker_count},
          {Role::kParameterServer,
           "parameterServer",
           input.parameter_server_type,
           input.parameter_server_config,
           input.parameter_server_count},
          {Role::kEvaluator,
           "evaluator",
           input.evaluator_type,
           input.evaluator_config,
           input.evaluator_count}};
}

const AcceleratorConfig* AcceleratorOf(const RoleInput& role) {
  const bool has = role.config.has_value() && role.config->accelerator_config.has_value();
  return has ? &*role.config->accelerator_config : nullptr;
}

Resources ResourcesOf(const MachineType& machine, const std::string& gpu, std::int64_t gpus) {
  return {.cpus = machine.cpus,
          .memory_bytes = machine.memory_bytes,
          .gpus = static_cast<std::int32_t>(gpus),
          .gpu_type = gpus > 0 ? DeviceType(gpu) : ""};
}

// --- scale tiers and machines ---

class MachineResolver {
 public:
  MachineResolver(const TrainingInput& input, const MachineCatalogue& catalogue, TrainingJob& job)
      : input_(input), catalogue_(catalogue), job_(job) {}

  absl::Status Run() {
    job_.replicas.clear();
    const std::string tier = input_.scale_tier.empty() ? "BASIC" : input_.scale_tier;
    if (input_.scale_tier.empty()) {
      // Without a scale tier nothing was asked for: a master that shares the host. (The service's default was BASIC.)
      VERNIER_RETURN_IF_ERROR(CheckNothingCustom(tier));
      Add(Role::kPrimary, 1, "", {});
    } else if (tier == "CUSTOM") {
      VERNIER_RETURN_IF_ERROR(Custom());
    } else {
      VERNIER_RETURN_IF_ERROR(Predefined(tier));
    }
    return CheckRegion(catalogue_, input_.region, gpus_, "trainingInput.region");
  }

 private:
  absl::Status Predefined(const std::string& name) {
    // A tier of the service's, so not unknown; the catalogue has none for hosts without TPUs.
    if (name == "BASIC_TPU") {
      return InputError("scaleTier", "'BASIC_TPU' needs a TPU, which no host of this server has");
    }
    const auto tier = catalogue_.tiers.find(name);
    if (tier == catalogue_.tiers.end()) {
      std::vector<std::string> known = {"CUSTOM"};
      for (const auto& [other, roles] : catalogue_.tiers) known.push_back(other);
      return InputError("scaleTier",
                        fmt::format("unknown tier '{}'{}", name, NearestHint(name, known)));
    }
    VERNIER_RETURN_IF_ERROR(CheckNothingCustom(name));
    for (const auto& [role, replica] : tier->second) {
      const MachineType& machine = catalogue_.machines.at(replica.machine);
      Add(role, replica.count, replica.machine, ResourcesOf(machine, replica.gpu, replica.gpus));
      if (replica.gpus > 0) gpus_.insert(replica.gpu);
    }
    return absl::OkStatus();
  }

  // Machines and counts may only be given with CUSTOM.
  absl::Status CheckNothingCustom(const std::string& tier) const {
    for (const RoleInput& role : RolesOf(input_)) {
      const auto only_custom = [&](const std::string& field) {
        return InputError(role.name + field,
                          fmt::format("needs scaleTier CUSTOM, which is {}", tier));
      };
      if (!role.type.empty()) return only_custom("Type");
      if (role.role != Role::kPrimary && role.count != 0) return only_custom("Count");
      if (AcceleratorOf(role) != nullptr) return only_custom("Config.acceleratorConfig");
    }
    return absl::OkStatus();
  }

  absl::Status Custom() {
    if (input_.master_type.empty()) {
      return InputError("masterType", "is missing; scaleTier CUSTOM needs it");
    }
    for (const RoleInput& role : RolesOf(input_)) {
      if (role.count < 0 || role.count > limits::kReplicas) {
        return InputError(
            role.name + "Count",
            fmt::format("must be from 0 to {}, got {}", limits::kReplicas, role.count));
      }
      // A type without a count is checked all the same: it is a typing error, or a role that was switched off.
      const bool is_given = role.count > 0 || !role.type.empty() || AcceleratorOf(role) != nullptr;
      if (is_given) VERNIER_RETURN_IF_ERROR(CustomRole(role));
    }
    return absl::OkStatus();
  }

  // A role's fields are checked even if its count is 0.
  absl::Status CustomRole(const RoleInput& role) {
    const std::string type_field = role.name + "Type";
    if (role.type.empty()) {
      return InputError(
          type_field,
          role.count > 0
              ? fmt::format("is missing; {}Count is {}", role.name, role.count)
              : fmt::format("is missing; {}Config.acceleratorConfig needs it", role.name));
    }
    VERNIER_ASSIGN_OR_RETURN(const MachineType* machine,
                             FindMachine(catalogue_, role.type, "trainingInput." + type_field));
    VERNIER_RETURN_IF_ERROR(CheckFamily(role, *machine));
    std::string gpu = machine->gpu;
    std::int64_t gpus = machine->gpus;
    if (const AcceleratorConfig* const accelerator = AcceleratorOf(role)) {
      VERNIER_RETURN_IF_ERROR(
          CheckGpus(catalogue_,
                    role.type,
                    accelerator->type,
                    accelerator->count,
                    {.whole = fmt::format("trainingInput.{}Config.acceleratorConfig", role.name)}));
      gpu = accelerator->type;
      gpus = accelerator->count;
    }
    if (role.count == 0) return absl::OkStatus();
    if (gpus > 0) gpus_.insert(gpu);
    Add(role.role, role.count, role.type, ResourcesOf(*machine, gpu, gpus));
    return absl::OkStatus();
  }

  // Compute Engine types and the older names must not be mixed in one job.
  absl::Status CheckFamily(const RoleInput& role, const MachineType& machine) const {
    const auto master = catalogue_.machines.find(input_.master_type);
    if (master == catalogue_.machines.end() || master->second.legacy == machine.legacy) {
      return absl::OkStatus();
    }
    return InputError(role.name + "Type",
                      fmt::format("must be {} like masterType '{}', got '{}'",
                                  master->second.legacy ? "an older machine type"
                                                        : "a Compute Engine machine type",
                                  input_.master_type,
                                  role.type));
  }

  void Add(Role role, std::int64_t count, const std::string& machine, Resources resources) {
    ReplicaSpec& replica = job_.replicas[role];
    replica.count = static_cast<std::int32_t>(count);
    replica.machine_type = machine;
    replica.resources = std::move(resources);
  }

  const TrainingInput& input_;
  const MachineCatalogue& catalogue_;
  TrainingJob& job_;
  std::set<std::string> gpus_;
};

// --- the program ---

// The name of the primary. TensorFlow 1 knows "master", TensorFlow 2 "chief": the service used "chief" for its runtime
// versions from 2.1 on; for images, useChiefInTfConfig decides.
std::string PrimaryName(const TrainingInput& input, bool runs_images) {
  if (runs_images) return input.use_chief_in_tf_config ? "chief" : "master";
  int major = 0;
  const std::string_view version = input.runtime_version;
  const bool known = absl::SimpleAtoi(std::string(version.substr(0, version.find('.'))), &major);
  return known && major < 2 ? "master" : "chief";
}

// REQUIRES: the role has a config.
absl::Status CheckContainer(const TrainingInput& input, const RoleInput& role, bool runs_images) {
  const ReplicaConfig& config = *role.config;
  const auto field = [&](const char* name) { return fmt::format("{}Config.{}", role.name, name); };
  if (!config.tpu_tf_version.empty()) {
    return InputError(field("tpuTfVersion"), "is for TPUs, which no host of this server has");
  }
  if (IsBuiltInImage(config.image_uri)) {
    if (role.role == Role::kPrimary) return absl::OkStatus();  // See BuiltInProgram.
    return CheckBuiltInImage(input, role.role, field("imageUri"), config.image_uri);
  }
  if (!runs_images && !config.image_uri.empty()) {
    return InputError(field("imageUri"),
                      "needs masterConfig.imageUri: either all roles have one, or none");
  }
  for (const auto& [name, words] : {std::pair("containerCommand", &config.container_command),
                                    std::pair("containerArgs", &config.container_args)}) {
    if (words->empty()) continue;
    if (!runs_images) return InputError(field(name), "needs masterConfig.imageUri");
    if (!input.args.empty()) {
      return InputError(field(name), "cannot go with args; give one of them");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckContainers(const TrainingInput& input, bool runs_images) {
  for (const RoleInput& role : RolesOf(input)) {
    if (role.config.has_value()) {
      VERNIER_RETURN_IF_ERROR(CheckContainer(input, role, runs_images));
    }
  }
  return absl::OkStatus();
}

// Resolves a job with images, which contain the program and its packages.
absl::Status ResolveImages(const TrainingInput& input, TrainingJob& job) {
  constexpr char kWhole[] =
      "cannot go with masterConfig.imageUri, which brings the program with it";
  if (!input.package_uris.empty()) return InputError("packageUris", kWhole);
  if (!input.python_module.empty()) return InputError("pythonModule", kWhole);
  if (!input.runtime_version.empty()) return InputError("runtimeVersion", kWhole);
  job.image = input.master_config->image_uri;
  for (const RoleInput& role : RolesOf(input)) {
    const auto replica = job.replicas.find(role.role);
    if (replica == job.replicas.end() || !role.config.has_value()) continue;
    if (role.role != Role::kPrimary) replica->second.image = role.config->image_uri;
    replica->second.command = role.config->container_command;
    replica->second.args = role.config->container_args;
  }
  return absl::OkStatus();
}

// Refuses packages in buckets: pip, which fetches them, cannot read gs://, and would only fail minutes later.
absl::Status CheckPackages(const std::vector<std::string>& packages, std::string_view path) {
  for (std::size_t i = 0; i < packages.size(); ++i) {
    if (!packages[i].starts_with("gs://")) continue;
    return FieldError(fmt::format("{}[{}]", path, i),
                      fmt::format("must be a file, a package's name or a URL that pip reads, such "
                                  "as https://; nothing here reads gs://, got '{}'",
                                  packages[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<PythonProgram> PackagedProgram(const TrainingInput& input) {
  if (input.python_module.empty()) {
    return InputError("pythonModule",
                      "is missing; it names the module to run, such as trainer.task");
  }
  if (input.package_uris.empty()) {
    return InputError(
        "packageUris",
        "must name the package that holds pythonModule; or give masterConfig.imageUri");
  }
  return PythonProgram{.module = input.python_module,
                       .packages = input.package_uris,
                       .runtime = input.runtime_version};
}

absl::Status ResolvePython(const TrainingInput& input, TrainingJob& job) {
  VERNIER_ASSIGN_OR_RETURN(job.python, BuiltInProgram(input));
  if (!job.python.has_value()) {
    VERNIER_ASSIGN_OR_RETURN(job.python, PackagedProgram(input));
  }
  if (input.package_uris.size() > limits::kPackages) {
    return InputError(
        "packageUris",
        fmt::format("must be at most {}, got {}", limits::kPackages, input.package_uris.size()));
  }
  VERNIER_RETURN_IF_ERROR(CheckPackages(input.package_uris, "trainingInput.packageUris"));
  return CheckBuiltInReplicas(input, job);
}

absl::Status ResolveProgram(const TrainingInput& input, bool runs_images, TrainingJob& job) {
  VERNIER_RETURN_IF_ERROR(CheckContainers(input, runs_images));
  job.command.clear();
  VERNIER_RETURN_IF_ERROR(runs_images ? ResolveImages(input, job) : ResolvePython(input, job));
  job.args = input.args;
  job.job_directory = input.job_dir;
  job.primary_name = PrimaryName(input, runs_images);
  return absl::OkStatus();
}

// --- limits ---

absl::Status ResolveScheduling(const TrainingInput& input, TrainingJob& job) {
  if (!input.scheduling.has_value()) return absl::OkStatus();
  const JobScheduling& scheduling = *input.scheduling;
  if (scheduling.priority < 0 || scheduling.priority > limits::kPriority) {
    return InputError(
        "scheduling.priority",
        fmt::format("must be from 0 to {}, got {}", limits::kPriority, scheduling.priority));
  }
  if (scheduling.max_wait_time.has_value() && *scheduling.max_wait_time < kLeastWait) {
    return InputError("scheduling.maxWaitTime",
                      fmt::format("must be at least 1800s, got {}s",
                                  absl::ToDoubleSeconds(*scheduling.max_wait_time)));
  }
  if (scheduling.max_running_time.has_value() &&
      *scheduling.max_running_time <= absl::ZeroDuration()) {
    return InputError("scheduling.maxRunningTime", "must be above 0s");
  }
  job.priority = scheduling.priority;
  job.wait_limit = scheduling.max_wait_time;
  // For a tuning job this limit is the time budget of the study.
  if (!input.hyperparameters.has_value()) job.trial_limit = scheduling.max_running_time;
  return absl::OkStatus();
}

// Refuses fields that contradict the training input. Equal values are fine: an exported study repeats them.
absl::Status CheckSaidOnce(const TrainingJob& given, const TrainingJob& resolved) {
  const TrainingJob unsaid;
  const auto differs = [&](const auto& field) {
    return given.*field != unsaid.*field && given.*field != resolved.*field;
  };
  const std::pair<const char*, bool> fields[] = {
      {"command", differs(&TrainingJob::command)},
      {"python", differs(&TrainingJob::python)},
      {"image", differs(&TrainingJob::image)},
      {"args", differs(&TrainingJob::args)},
      {"dir", differs(&TrainingJob::job_directory)},
      {"replicas", differs(&TrainingJob::replicas)},
      {"region", differs(&TrainingJob::region)},
      {"priority", differs(&TrainingJob::priority)},
      {"limits.wait", differs(&TrainingJob::wait_limit)},
      {"limits.trial", differs(&TrainingJob::trial_limit)}};
  for (const auto& [name, twice] : fields) {
    if (twice) return FieldError(fmt::format("job.{}", name), "is what job.trainingInput says");
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainingJob> ResolveInput(const TrainingJob& given,
                                         const MachineCatalogue& catalogue) {
  const TrainingInput& input = *given.input;
  TrainingJob job = given;
  VERNIER_RETURN_IF_ERROR(MachineResolver(input, catalogue, job).Run());
  VERNIER_RETURN_IF_ERROR(ResolveProgram(input, RunsImages(given), job));
  VERNIER_RETURN_IF_ERROR(ResolveScheduling(input, job));
  job.region = input.region;
  VERNIER_RETURN_IF_ERROR(CheckSaidOnce(given, job));
  return job;
}

// --- machine types of a plain job ---

// The catalogue's name of the device type, or the type itself if it has none.
std::string CatalogueName(const MachineCatalogue& catalogue, const std::string& gpu_type) {
  for (const auto& [name, gpu] : catalogue.gpus) {
    if (DeviceType(name) == gpu_type) return name;
  }
  return gpu_type;
}

absl::Status ResolveMachine(const MachineCatalogue& catalogue,
                            const std::string& path,
                            ReplicaSpec& replica) {
  VERNIER_ASSIGN_OR_RETURN(const MachineType* machine,
                           FindMachine(catalogue, replica.machine_type, path + ".machine"));
  const Resources& asked = replica.resources;
  const Resources unsaid;
  Resources has = ResourcesOf(*machine, machine->gpu, machine->gpus);
  if (asked.gpus > 0) {
    const std::string gpu = CatalogueName(catalogue, asked.gpu_type);
    // A count and type that equal the machine's own are a repetition, not a choice.
    const bool of_machine =
        machine->gpus == asked.gpus && DeviceType(machine->gpu) == asked.gpu_type;
    // Types that the catalogue does not know are this host's own, and have no rule.
    if (!of_machine && catalogue.gpus.contains(gpu)) {
      VERNIER_RETURN_IF_ERROR(CheckGpus(
          catalogue,
          replica.machine_type,
          gpu,
          asked.gpus,
          {.whole = path + ".gpus", .type = path + ".gpu_type", .count = path + ".gpus"}));
    }
    has.gpus = asked.gpus;
    has.gpu_type = asked.gpu_type;
  }
  // An exported study has both, machine and figures; equal ones are accepted, so that it can be created again.
  if (asked.cpus != unsaid.cpus && asked.cpus != has.cpus) {
    return FieldError(path + ".cpus",
                      fmt::format("machine '{}' has {}, got {}; leave it out",
                                  replica.machine_type,
                                  has.cpus,
                                  asked.cpus));
  }
  if (asked.memory_bytes != unsaid.memory_bytes && asked.memory_bytes != has.memory_bytes) {
    return FieldError(path + ".memory",
                      fmt::format("machine '{}' has {} bytes, got {}; leave it out",
                                  replica.machine_type,
                                  has.memory_bytes,
                                  asked.memory_bytes));
  }
  has.gpu_memory_bytes = asked.gpu_memory_bytes;
  replica.resources = std::move(has);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingJob> Resolve(TrainingJob job, const MachineCatalogue& catalogue) {
  if (job.input.has_value()) return ResolveInput(job, catalogue);
  if (job.python.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckPackages(job.python->packages, "job.python.packages"));
  }
  for (auto& [role, replica] : job.replicas) {
    if (replica.machine_type.empty()) continue;
    VERNIER_RETURN_IF_ERROR(
        ResolveMachine(catalogue, fmt::format("job.replicas.{}", RoleName(role, job)), replica));
  }
  return job;
}

std::vector<std::string> FieldsWithoutEffect(const TrainingInput& input) {
  std::vector<std::string> fields;
  const auto add = [&](bool given, const std::string& name) {
    if (given) fields.push_back("trainingInput." + name);
  };
  add(!input.network.empty(), "network");
  add(!input.service_account.empty(), "serviceAccount");
  add(input.encryption_config.has_value(), "encryptionConfig");
  add(input.enable_web_access, "enableWebAccess");
  add(!input.python_version.empty(), "pythonVersion");
  for (const RoleInput& role : RolesOf(input)) {
    add(role.config.has_value() && role.config->disk_config.has_value(),
        role.name + "Config.diskConfig");
  }
  return fields;
}

}  // namespace vernier::jobs
