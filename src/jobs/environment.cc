#include "src/jobs/environment.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "src/codec/training_input_json.h"
#include "src/core/objectives.h"
#include "src/jobs/job_name.h"
#include "src/jobs/replica_command.h"

namespace vernier::jobs {
namespace {

using SortedJson = nlohmann::json;

constexpr std::string_view kWorker = "worker";
constexpr std::string_view kParameterServer = "ps";
constexpr std::string_view kEvaluator = "evaluator";

// Serialises JSON. Users' text may be invalid UTF-8, which must not make the whole document impossible.
std::string Dump(const SortedJson& document) {
  return document.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

std::string Address(const ReplicaPlacement& replica) {
  return fmt::format("{}:{}", replica.host, replica.port);
}

// The role's prefix in field names of AI Platform Training.
std::string_view FieldPrefix(Role role) {
  switch (role) {
    case Role::kPrimary:
      return "master";
    case Role::kWorker:
      return "worker";
    case Role::kParameterServer:
      return "parameter_server";
    case Role::kEvaluator:
      return "evaluator";
  }
  return "";
}

void AddRole(Role role, const ReplicaSpec& replica, SortedJson& document) {
  const std::string prefix(FieldPrefix(role));
  if (role != Role::kPrimary) document[prefix + "_count"] = std::to_string(replica.count);
  if (!replica.machine_type.empty()) document[prefix + "_type"] = replica.machine_type;
  if (!replica.image.empty()) document[prefix + "_config"]["image_uri"] = replica.image;
  if (replica.resources.gpus == 0) return;
  SortedJson& accelerator = document[prefix + "_config"]["accelerator_config"];
  accelerator["count"] = std::to_string(replica.resources.gpus);
  if (!replica.resources.gpu_type.empty()) accelerator["type"] = replica.resources.gpu_type;
}

SortedJson JobDocument(const TrainingJob& job) {
  if (job.input.has_value()) {
    return codec::TrainingInputToJson(*job.input, codec::FieldNames::kSnakeCase);
  }
  SortedJson document = {{"scale_tier", "CUSTOM"}, {"args", job.args}};
  if (job.python.has_value()) {
    document["python_module"] = job.python->module;
    document["package_uris"] = job.python->packages;
  } else if (job.image.empty() || !job.command.empty()) {
    document["command"] = job.command;
  }
  if (!job.image.empty()) document["master_config"]["image_uri"] = job.image;
  if (!job.region.empty()) document["region"] = job.region;
  if (!job.job_directory.empty()) document["job_dir"] = job.job_directory;
  for (const auto& [role, replica] : job.replicas) {
    if (replica.count > 0) AddRole(role, replica, document);
  }
  return document;
}

bool IsTuned(const StudySpec& spec) { return !spec.objectives.empty(); }

// Whether the replica is a node of a data-parallel job: the primary, which has rank 0, or a worker.
bool IsNode(const ReplicaPlacement& replica) {
  return replica.role != kParameterServer && replica.role != kEvaluator;
}

// Variables of torch.distributed's "env://" initialization. Replicas that are no nodes get no RANK.
void AddPyTorch(const Placement& placement,
                std::size_t i,
                std::map<std::string, std::string>& variables) {
  const ReplicaPlacement& primary = placement.front();
  variables["MASTER_ADDR"] = primary.host;
  variables["MASTER_PORT"] = std::to_string(primary.port);
  variables["WORLD_SIZE"] = std::to_string(std::ranges::count_if(placement, IsNode));
  if (i == 0) {
    variables["RANK"] = "0";
  } else if (placement[i].role == kWorker) {
    variables["RANK"] = std::to_string(placement[i].index + 1);
  }
}

// The document of TF_CONFIG, with the primary under the given name.
SortedJson ClusterDocument(const StudySpec& spec,
                           TrialNumber trial,
                           const Placement& placement,
                           std::size_t i,
                           const std::string& primary) {
  const auto name = [&](const ReplicaPlacement& replica) {
    return replica.role == placement.front().role ? primary : replica.role;
  };
  SortedJson cluster = SortedJson::object();
  for (const ReplicaPlacement& replica : placement) {
    if (replica.role != kEvaluator) cluster[name(replica)].push_back(Address(replica));
  }
  SortedJson task = {
      {"type", name(placement[i])}, {"index", placement[i].index}, {"cloud", "vernier"}};
  // As text, as in the service's TF_CONFIG.
  if (IsTuned(spec)) task["trial"] = std::to_string(trial.value());
  return {{"cluster", std::move(cluster)},
          {"environment", "cloud"},
          {"job", JobDocument(*spec.job)},
          {"task", std::move(task)}};
}

// CLUSTER_SPEC of AI Platform Training: like TF_CONFIG, for containers without TensorFlow. The primary is always
// "master", and `trial` is always there.
std::string ClusterSpec(const StudySpec& spec,
                        TrialNumber trial,
                        const Placement& placement,
                        std::size_t i) {
  SortedJson document = ClusterDocument(spec, trial, placement, i, "master");
  if (!IsTuned(spec)) document["task"]["trial"] = "";
  return Dump(document);
}

}  // namespace

std::string JobJson(const TrainingJob& job) { return Dump(JobDocument(job)); }

std::string TfConfig(const StudySpec& spec,
                     TrialNumber trial,
                     const Placement& placement,
                     std::size_t i) {
  return Dump(ClusterDocument(spec, trial, placement, i, placement.front().role));
}

std::map<std::string, std::string> ServiceVariables(const AttemptId& id,
                                                    const StudySpec& spec,
                                                    const Point& point,
                                                    const Placement& placement,
                                                    std::size_t i,
                                                    const std::string& metric_file) {
  const std::string trial = std::to_string(id.trial.number.value());
  const JobName job = JobNameOf(spec.name);
  std::map<std::string, std::string> variables = {
      {"TF_CONFIG", TfConfig(spec, id.trial.number, placement, i)},
      {"CLOUD_ML_JOB", JobJson(*spec.job)},
      {"CLOUD_ML_JOB_ID", job.job},
      {"VERNIER_STUDY", spec.name},
      {"VERNIER_TRIAL", trial},
      {"VERNIER_ATTEMPT", std::to_string(id.number.value())},
      {"VERNIER_PARAMETERS", ParametersJson(point, spec.space)},
  };
  // Empty for a replica without devices, so that it cannot use those of another. A cluster sets it for those it chooses.
  if (std::ranges::count(placement[i].gpus, kUnknownGpu) == 0) {
    variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(placement[i].gpus, ","));
  }
  if (!job.project.empty()) variables["CLOUD_ML_PROJECT_ID"] = job.project;
  if (RunsImages(*spec.job)) {
    variables["CLUSTER_SPEC"] = ClusterSpec(spec, id.trial.number, placement, i);
  }
  // These tell a program that it is being tuned.
  if (IsTuned(spec)) {
    variables["CLOUD_ML_TRIAL_ID"] = trial;
    variables["CLOUD_ML_HP_METRIC_TAG"] = FirstObjective(spec).metric;
    variables["CLOUD_ML_HP_METRIC_FILE"] = metric_file;
  }
  // CUDA numbers the fastest device first by default; indices here follow nvidia-smi (CUDA C++ Programming Guide, "CUDA
  // Environment Variables").
  if (!placement[i].gpus.empty()) variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  AddPyTorch(placement, i, variables);
  return variables;
}

bool IsServiceVariable(std::string_view name) {
  constexpr std::string_view kNames[] = {"TF_CONFIG",
                                         "CLUSTER_SPEC",
                                         "CUDA_VISIBLE_DEVICES",
                                         "CUDA_DEVICE_ORDER",
                                         "MASTER_ADDR",
                                         "MASTER_PORT",
                                         "WORLD_SIZE",
                                         "RANK"};
  return name.starts_with("VERNIER_") || name.starts_with("CLOUD_ML_") ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

std::map<std::string, std::string> DefaultVariables(const Placement& placement) {
  // Python buffers standard output that is no terminal; lines must reach the log when they are printed.
  std::map<std::string, std::string> variables = {{"PYTHONUNBUFFERED", "1"}};
  const bool loopback = std::ranges::all_of(
      placement, [](const ReplicaPlacement& replica) { return replica.host == "127.0.0.1"; });
  // Gloo uses the interface that the host's name resolves to, which may not exist on a laptop or in a container.
  if (loopback) variables["GLOO_SOCKET_IFNAME"] = "lo";
  return variables;
}

}  // namespace vernier::jobs
