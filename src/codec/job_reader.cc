#include "src/codec/job_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "src/codec/argument_form.h"
#include "src/codec/shell_words.h"
#include "src/codec/study_file.h"
#include "src/codec/training_input_json.h"
#include "src/core/built_in_trainers.h"
#include "src/core/byte_size.h"
#include "src/core/nearest.h"

namespace vernier::codec {
namespace {

constexpr std::array<std::pair<const char*, Role>, 5> kRoles = {{
    {"chief", Role::kPrimary},
    {"master", Role::kPrimary},
    {"worker", Role::kWorker},
    {"ps", Role::kParameterServer},
    {"evaluator", Role::kEvaluator},
}};

constexpr std::array<std::pair<const char*, std::optional<absl::Duration> TrainingJob::*>, 4>
    kTimeLimits = {{{"time", &TrainingJob::time_limit},
                    {"trial", &TrainingJob::trial_limit},
                    {"wait", &TrainingJob::wait_limit},
                    {"progress", &TrainingJob::progress_limit}}};

constexpr std::array<std::pair<std::string_view, FailureReading>, 2> kReadings = {{
    {"strict", FailureReading::kStrict},
    {"lenient", FailureReading::kLenient},
}};

// What a replica asks for: nothing else in a study file has a key of these names.
constexpr std::array<std::string_view, 6> kShares = {
    "cpus", "memory", "gpus", "gpu_type", "gpu_memory", "machine"};
constexpr std::array<std::string_view, 10> kJobKeys = {"command",
                                                       "python",
                                                       "trainer",
                                                       "image",
                                                       "args",
                                                       "env",
                                                       "code",
                                                       "replicas",
                                                       "limits",
                                                       "restarts"};

bool IsShare(std::string_view key) { return std::ranges::find(kShares, key) != kShares.end(); }

// InvalidArgument: the mapping has what belongs to a replica, which goes between `before` and `after`.
absl::Status RefuseShares(const Json& json,
                          const std::string& path,
                          std::string_view before,
                          std::string_view after) {
  if (!json.is_object()) return absl::OkStatus();
  for (const auto& [key, value] : json.items()) {
    if (!IsShare(key)) continue;
    return FieldError(path + key,
                      fmt::format("belongs to a replica of the job: write `{}chief: {{{}: {}}}{}`",
                                  before,
                                  key,
                                  value.dump(-1, ' ', false, Json::error_handler_t::replace),
                                  after));
  }
  return absl::OkStatus();
}

// A list of words, or one line of them.
absl::StatusOr<std::vector<std::string>> ReadCommand(const Json& json, const std::string& path) {
  if (json.is_array()) return ReadTexts(json, path);
  if (!json.is_string()) return MustBe(path, "a list of words or one line of text", json);
  absl::StatusOr<std::vector<std::string>> words =
      SplitShellWords(json.get_ref<const std::string&>());
  if (words.ok()) return words;
  return FieldError(path, std::string(words.status().message()));
}

absl::StatusOr<SecretSource> ReadSecret(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {"from_file", "secret"}));
  SecretSource secret;
  VERNIER_RETURN_IF_ERROR(mapping.Read("from_file", secret.from_file, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("secret", secret.name, &ReadText));
  return secret;
}

// A variable is a text, or says where a secret is.
absl::Status ReadEnvironment(const Mapping& mapping,
                             std::map<std::string, std::string>& values,
                             std::map<std::string, SecretSource>& secrets) {
  const Json* const env = mapping.Find("env");
  if (env == nullptr) return absl::OkStatus();
  const std::string path = mapping.PathOf("env");
  if (!env->is_object()) return MustBe(path, "a mapping of names to text", *env);
  for (const auto& [name, value] : env->items()) {
    const std::string field = fmt::format("{}.{}", path, name);
    if (value.is_object()) {
      VERNIER_ASSIGN_OR_RETURN(secrets[name], ReadSecret(value, field));
    } else {
      VERNIER_ASSIGN_OR_RETURN(values[name], ReadText(value, field));
    }
  }
  return absl::OkStatus();
}

void AddEnvironment(const std::map<std::string, std::string>& values,
                    const std::map<std::string, SecretSource>& secrets,
                    Json& json) {
  if (values.empty() && secrets.empty()) return;
  Json& env = json["env"] = values;
  for (const auto& [name, secret] : secrets) {
    env[name] =
        secret.name.empty() ? Json{{"from_file", secret.from_file}} : Json{{"secret", secret.name}};
  }
}

Json MemoryToJson(std::int64_t bytes) {
  std::string text = FormatByteSize(bytes);
  return text.ends_with('B') ? Json(std::move(text)) : Json(bytes);
}

absl::StatusOr<ReplicaSpec> ReadReplica(const Json& json,
                                        const std::string& path,
                                        UnknownKeys unknown_keys) {
  ReplicaSpec replica;
  if (json.is_number()) {
    VERNIER_ASSIGN_OR_RETURN(replica.count, ReadInt32(json, path));
    return replica;
  }
  if (!json.is_object()) return MustBe(path, "a count or a mapping such as {count: 2}", json);
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json,
                                         path,
                                         {"count",
                                          "command",
                                          "args",
                                          "env",
                                          "directory",
                                          "image",
                                          "machine",
                                          "cpus",
                                          "memory",
                                          "gpus",
                                          "gpu_type",
                                          "gpu_memory"},
                                         unknown_keys));
  Resources& resources = replica.resources;
  VERNIER_RETURN_IF_ERROR(mapping.Read("count", replica.count, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("command", replica.command, &ReadCommand));
  VERNIER_RETURN_IF_ERROR(mapping.Read("args", replica.args, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(ReadEnvironment(mapping, replica.env, replica.secrets));
  VERNIER_RETURN_IF_ERROR(mapping.Read("directory", replica.directory, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("image", replica.image, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("machine", replica.machine_type, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("cpus", resources.cpus, &ReadNumber));
  VERNIER_RETURN_IF_ERROR(mapping.Read("memory", resources.memory_bytes, &ReadMemory));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpus", resources.gpus, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpu_type", resources.gpu_type, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpu_memory", resources.gpu_memory_bytes, &ReadMemory));
  return replica;
}

absl::Status ReadReplicas(const Json& json,
                          const std::string& path,
                          UnknownKeys unknown_keys,
                          TrainingJob& job) {
  if (unknown_keys == UnknownKeys::kRefuse) {
    VERNIER_RETURN_IF_ERROR(RefuseShares(json, path + ".", "replicas: {", "}"));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json, path, {"chief", "master", "worker", "ps", "evaluator"}, unknown_keys));
  if (mapping.Find("chief") != nullptr && mapping.Find("master") != nullptr) {
    return FieldError(mapping.PathOf("master"), "is another name for chief; use one of them");
  }
  job.replicas.clear();
  for (const auto& [name, role] : kRoles) {
    const Json* const replica = mapping.Find(name);
    if (replica == nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(job.replicas[role],
                             ReadReplica(*replica, mapping.PathOf(name), unknown_keys));
    if (role == Role::kPrimary) job.primary_name = name;
  }
  return absl::OkStatus();
}

absl::Status ReadLimits(const Json& json,
                        const std::string& path,
                        UnknownKeys unknown_keys,
                        TrainingJob& job) {
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json,
                    path,
                    {"time", "trial", "wait", "progress", "nan", "grace", "output"},
                    unknown_keys));
  for (const auto& [name, limit] : kTimeLimits) {
    VERNIER_RETURN_IF_ERROR(mapping.Read(name, job.*limit, &ReadDuration));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("nan", job.nan_limit, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("grace", job.grace, &ReadDuration));
  return mapping.Read("output", job.output_bytes, &ReadMemory);
}

absl::StatusOr<PythonProgram> ReadPython(const Json& json,
                                         const std::string& path,
                                         UnknownKeys unknown_keys) {
  PythonProgram python;
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json, path, {"module", "packages", "runtime"}, unknown_keys));
  VERNIER_RETURN_IF_ERROR(mapping.Require("module").status());
  VERNIER_RETURN_IF_ERROR(mapping.Read("module", python.module, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("packages", python.packages, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(mapping.Read("runtime", python.runtime, &ReadText));
  return python;
}

absl::StatusOr<PythonProgram> ReadTrainer(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, ReadText(json, path));
  const std::vector<std::string> known(kBuiltInTrainers.begin(), kBuiltInTrainers.end());
  if (std::ranges::find(known, name) != known.end()) {
    return PythonProgram{.module = BuiltInModule(name)};
  }
  return FieldError(path, fmt::format("unknown trainer '{}'{}", name, NearestHint(name, known)));
}

// Whether the trainer's name says all of it.
bool IsTrainerAlone(const PythonProgram& python) {
  return IsBuiltInModule(python.module) && python.packages.empty() && python.runtime.empty();
}

Json PythonToJson(const PythonProgram& python) {
  Json json = {{"module", python.module}};
  if (!python.packages.empty()) json["packages"] = python.packages;
  if (!python.runtime.empty()) json["runtime"] = python.runtime;
  return json;
}

// A folder to send, or what has been sent.
absl::StatusOr<CodeSnapshot> ReadCode(const Json& json,
                                      const std::string& path,
                                      UnknownKeys unknown_keys) {
  CodeSnapshot code;
  if (json.is_string()) {
    VERNIER_ASSIGN_OR_RETURN(code.folder, ReadText(json, path));
    return code;
  }
  if (!json.is_object()) {
    return MustBe(path, "a folder such as '.', or a mapping {archive: PATH}", json);
  }
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {"archive", "sha256"}, unknown_keys));
  VERNIER_RETURN_IF_ERROR(mapping.Require("archive").status());
  VERNIER_RETURN_IF_ERROR(mapping.Read("archive", code.archive, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("sha256", code.sha256, &ReadText));
  return code;
}

Json CodeToJson(const CodeSnapshot& code) {
  if (!code.folder.empty()) return code.folder;
  Json json = {{"archive", code.archive}};
  if (!code.sha256.empty()) json["sha256"] = code.sha256;
  return json;
}

absl::StatusOr<FailureReading> ReadReading(const Json& json, const std::string& path) {
  for (const auto& [name, reading] : kReadings) {
    if (json == name) return reading;
  }
  return MustBe(path, "strict or lenient", json);
}

Json ReplicaToJson(const ReplicaSpec& replica) {
  Json json = {{"count", replica.count}};
  if (!replica.command.empty()) json["command"] = replica.command;
  if (!replica.args.empty()) json["args"] = replica.args;
  AddEnvironment(replica.env, replica.secrets, json);
  if (!replica.directory.empty()) json["directory"] = replica.directory;
  if (!replica.image.empty()) json["image"] = replica.image;
  if (!replica.machine_type.empty()) json["machine"] = replica.machine_type;
  json["cpus"] = replica.resources.cpus;
  json["memory"] = MemoryToJson(replica.resources.memory_bytes);
  json["gpus"] = replica.resources.gpus;
  if (!replica.resources.gpu_type.empty()) json["gpu_type"] = replica.resources.gpu_type;
  if (replica.resources.gpu_memory_bytes != 0) {
    json["gpu_memory"] = MemoryToJson(replica.resources.gpu_memory_bytes);
  }
  return json;
}

}  // namespace

absl::StatusOr<TrainingJob> ReadJob(const Json& json,
                                    const std::string& path,
                                    UnknownKeys unknown_keys) {
  TrainingJob job;
  if (unknown_keys == UnknownKeys::kRefuse) {
    VERNIER_RETURN_IF_ERROR(RefuseShares(json, path + ".", "replicas: {", "}"));
  }
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json,
                                         path,
                                         {"trainingInput",
                                          "command",
                                          "python",
                                          "trainer",
                                          "image",
                                          "args",
                                          "arguments",
                                          "env",
                                          "dir",
                                          "code",
                                          "working_dir",
                                          "region",
                                          "replicas",
                                          "limits",
                                          "priority",
                                          "restarts"},
                                         unknown_keys));
  if (const Json* const input = mapping.Find("trainingInput")) {
    VERNIER_ASSIGN_OR_RETURN(
        job.input, ReadTrainingInput(*input, mapping.PathOf("trainingInput"), unknown_keys));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("command", job.command, &ReadCommand));
  if (const Json* const python = mapping.Find("python")) {
    VERNIER_ASSIGN_OR_RETURN(job.python,
                             ReadPython(*python, mapping.PathOf("python"), unknown_keys));
  }
  if (const Json* const trainer = mapping.Find("trainer")) {
    if (job.python.has_value()) {
      return FieldError(mapping.PathOf("trainer"), "cannot go with job.python; give one of them");
    }
    VERNIER_ASSIGN_OR_RETURN(job.python, ReadTrainer(*trainer, mapping.PathOf("trainer")));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("image", job.image, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("region", job.region, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("args", job.args, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(mapping.Read("arguments", job.argument_style, &ReadArgumentStyle));
  VERNIER_RETURN_IF_ERROR(ReadEnvironment(mapping, job.env, job.secrets));
  VERNIER_RETURN_IF_ERROR(mapping.Read("dir", job.job_directory, &ReadText));
  if (const Json* const code = mapping.Find("code")) {
    VERNIER_ASSIGN_OR_RETURN(job.code, ReadCode(*code, mapping.PathOf("code"), unknown_keys));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("working_dir", job.working_directory, &ReadText));
  if (const Json* const replicas = mapping.Find("replicas")) {
    VERNIER_RETURN_IF_ERROR(ReadReplicas(*replicas, mapping.PathOf("replicas"), unknown_keys, job));
  }
  if (const Json* const limits = mapping.Find("limits")) {
    VERNIER_RETURN_IF_ERROR(ReadLimits(*limits, mapping.PathOf("limits"), unknown_keys, job));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("priority", job.priority, &ReadInt32));
  if (const Json* const restarts = mapping.Find("restarts")) {
    VERNIER_ASSIGN_OR_RETURN(job.restarts,
                             ReadRestarts(*restarts, mapping.PathOf("restarts"), unknown_keys));
  }
  return job;
}

absl::Status RefuseJobKeys(const Json& document) {
  VERNIER_RETURN_IF_ERROR(RefuseShares(document, "", "job: {replicas: {", "}}"));
  if (!document.is_object()) return absl::OkStatus();
  for (const auto& [key, value] : document.items()) {
    if (std::ranges::find(kJobKeys, key) == kJobKeys.end()) continue;
    return FieldError(key, fmt::format("belongs to the job: write `job: {{{}: …}}`", key));
  }
  return absl::OkStatus();
}

Json JobToJson(const TrainingJob& job) {
  Json json = Json::object();
  if (job.input) json["trainingInput"] = TrainingInputToJson(*job.input, FieldNames::kCamelCase);
  if (job.python && IsTrainerAlone(*job.python)) {
    json["trainer"] = BuiltInTrainer(job.python->module);
  } else if (job.python) {
    json["python"] = PythonToJson(*job.python);
  }
  if (!job.image.empty()) json["image"] = job.image;
  const bool may_lack_command = job.python.has_value() || !job.image.empty();
  if (!may_lack_command || !job.command.empty()) json["command"] = job.command;
  if (!job.args.empty()) json["args"] = job.args;
  if (job.argument_style != ArgumentStyle::kOption) {
    json["arguments"] = ArgumentStyleName(job.argument_style);
  }
  AddEnvironment(job.env, job.secrets, json);
  if (!job.job_directory.empty()) json["dir"] = job.job_directory;
  if (job.code) json["code"] = CodeToJson(*job.code);
  if (!job.working_directory.empty()) json["working_dir"] = job.working_directory;
  if (!job.region.empty()) json["region"] = job.region;
  Json& replicas = json["replicas"] = Json::object();
  for (const auto& [role, replica] : job.replicas) {
    replicas[RoleName(role, job)] = ReplicaToJson(replica);
  }
  Json& limits = json["limits"] = Json::object();
  for (const auto& [name, limit] : kTimeLimits) {
    if (job.*limit) limits[name] = codec::FormatDuration(*(job.*limit));
  }
  if (job.nan_limit) limits["nan"] = *job.nan_limit;
  limits["grace"] = codec::FormatDuration(job.grace);
  limits["output"] = MemoryToJson(job.output_bytes);
  if (job.priority != 0) json["priority"] = job.priority;
  if (Json restarts = RestartsToJson(job.restarts); !restarts.empty()) {
    json["restarts"] = std::move(restarts);
  }
  return json;
}

absl::StatusOr<RestartPolicy> ReadRestarts(const Json& json,
                                           const std::string& path,
                                           UnknownKeys unknown_keys) {
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json, path, {"reading", "replica", "job", "internal"}, unknown_keys));
  RestartPolicy restarts;
  VERNIER_RETURN_IF_ERROR(mapping.Read("reading", restarts.reading, &ReadReading));
  VERNIER_RETURN_IF_ERROR(mapping.Read("replica", restarts.replica, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("job", restarts.job, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("internal", restarts.internal, &ReadInt32));
  return restarts;
}

Json RestartsToJson(const RestartPolicy& restarts) {
  const RestartPolicy usual;
  Json json = Json::object();
  for (const auto& [name, reading] : kReadings) {
    if (restarts.reading == reading && reading != usual.reading) json["reading"] = name;
  }
  if (restarts.replica != usual.replica) json["replica"] = restarts.replica;
  if (restarts.job != usual.job) json["job"] = restarts.job;
  if (restarts.internal != usual.internal) json["internal"] = restarts.internal;
  return json;
}

}  // namespace vernier::codec
