#include "src/jobs/built_in_algorithms.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/built_in_trainers.h"
#include "src/core/status.h"
#include "src/jobs/input_error.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

// Names of the images, and the trainers that take their place. One trainer runs on CPUs and GPUs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTrainers = {{
    {"boosted_trees", "xgboost"},
    {"linear_learner_cpu", "linear_learner"},
    {"linear_learner_gpu", "linear_learner"},
    {"tab_net", "tab_net"},
    {"wide_deep_learner_cpu", "wide_deep"},
    {"wide_deep_learner_gpu", "wide_deep"},
    {"xgboost_dist", "xgboost"},
}};

constexpr std::string_view kMasterImage = "masterConfig.imageUri";

// The trainer for an image. Tag and digest are ignored: they name versions of the image, and there is one of each
// trainer.
absl::StatusOr<std::string_view> TrainerOf(std::string_view image, std::string_view field) {
  const std::string_view rest = image.substr(kBuiltInRegistry.size());
  const std::string_view algorithm = rest.substr(0, rest.find_first_of(":@"));
  std::vector<std::string_view> offered;
  for (const auto& [name, trainer] : kTrainers) {
    if (name == algorithm) return trainer;
    offered.push_back(name);
  }
  return InputError(field,
                    fmt::format("the built-in algorithm '{}' is not offered; offered are {}",
                                algorithm,
                                fmt::join(offered, ", ")));
}

absl::Status CheckNoOtherProgram(const TrainingInput& input) {
  const char* const field =
      !input.python_module.empty()                      ? "pythonModule"
      : !input.master_config->container_command.empty() ? "masterConfig.containerCommand"
      : !input.master_config->container_args.empty()    ? "masterConfig.containerArgs"
                                                        : nullptr;
  if (field == nullptr) return absl::OkStatus();
  return InputError(field,
                    "cannot go with a built-in algorithm, which has its program; give it args");
}

}  // namespace

absl::StatusOr<std::optional<PythonProgram>> BuiltInProgram(const TrainingInput& input) {
  if (!input.master_config.has_value() || !IsBuiltInImage(input.master_config->image_uri)) {
    return std::nullopt;
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string_view trainer,
                           TrainerOf(input.master_config->image_uri, kMasterImage));
  VERNIER_RETURN_IF_ERROR(CheckNoOtherProgram(input));
  return PythonProgram{.module = BuiltInModule(trainer),
                       .packages = input.package_uris,
                       .runtime = input.runtime_version};
}

absl::Status CheckBuiltInImage(const TrainingInput& input,
                               Role role,
                               std::string_view field,
                               std::string_view image) {
  if (!input.master_config.has_value() || !IsBuiltInImage(input.master_config->image_uri)) {
    return InputError(field,
                      "is a built-in algorithm, which masterConfig.imageUri must name as well");
  }
  const std::string& master = input.master_config->image_uri;
  VERNIER_ASSIGN_OR_RETURN(const std::string_view trainer, TrainerOf(master, kMasterImage));
  if (role != Role::kWorker || !TakesWorkers(trainer)) {
    return InputError(field,
                      fmt::format("is a built-in algorithm, which runs on the {} alone",
                                  TakesWorkers(trainer) ? "master and workers" : "master"));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string_view other, TrainerOf(image, field));
  if (other == trainer) return absl::OkStatus();
  return InputError(field, fmt::format("must be the master's, '{}', got '{}'", master, image));
}

absl::Status CheckBuiltInReplicas(const TrainingInput& input, const TrainingJob& job) {
  if (!job.python.has_value() || !IsBuiltInModule(job.python->module)) return absl::OkStatus();
  const bool takes_workers = TakesWorkers(BuiltInTrainer(job.python->module));
  const std::string_view runs_in = takes_workers ? "a master and workers" : "one replica";
  const std::pair<Role, const char*> fields[] = {{Role::kWorker, "workerCount"},
                                                 {Role::kParameterServer, "parameterServerCount"},
                                                 {Role::kEvaluator, "evaluatorCount"}};
  for (const auto& [role, field] : fields) {
    const auto replica = job.replicas.find(role);
    if (replica == job.replicas.end() || replica->second.count == 0) continue;
    if (role == Role::kWorker && takes_workers) continue;
    // The error names the field that the user set: a count, or the tier that brought the count.
    if (input.scale_tier == "CUSTOM") {
      return InputError(field,
                        fmt::format("must be 0, since this built-in algorithm runs in {}, got {}",
                                    runs_in,
                                    replica->second.count));
    }
    return InputError(
        "scaleTier",
        fmt::format("must be BASIC, BASIC_GPU or CUSTOM, since this built-in algorithm runs in {}, "
                    "got '{}'",
                    runs_in,
                    input.scale_tier));
  }
  return absl::OkStatus();
}

}  // namespace vernier::jobs
