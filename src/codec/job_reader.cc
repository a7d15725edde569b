#include "src/codec/job_reader.h"

#include <array>
#include <utility>

#include "fmt/format.h"
#include "src/codec/shell_words.h"
#include "src/codec/study_file.h"
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

// A list of words, or one line of them.
absl::StatusOr<std::vector<std::string>> ReadCommand(const Json& json, const std::string& path) {
  if (json.is_array()) return ReadTexts(json, path);
  if (!json.is_string()) return MustBe(path, "a list of words or one line of text", json);
  absl::StatusOr<std::vector<std::string>> words =
      SplitShellWords(json.get_ref<const std::string&>());
  if (words.ok()) return words;
  return FieldError(path, std::string(words.status().message()));
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
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          json,
          path,
          {"count", "command", "args", "env", "directory", "cpus", "memory", "gpus", "gpu_type"},
          unknown_keys));
  Resources& resources = replica.resources;
  VERNIER_RETURN_IF_ERROR(mapping.Read("count", replica.count, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("command", replica.command, &ReadCommand));
  VERNIER_RETURN_IF_ERROR(mapping.Read("args", replica.args, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(mapping.Read("env", replica.env, &ReadTextMap));
  VERNIER_RETURN_IF_ERROR(mapping.Read("directory", replica.directory, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("cpus", resources.cpus, &ReadNumber));
  VERNIER_RETURN_IF_ERROR(mapping.Read("memory", resources.memory_bytes, &ReadMemory));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpus", resources.gpus, &ReadInt32));
  VERNIER_RETURN_IF_ERROR(mapping.Read("gpu_type", resources.gpu_type, &ReadText));
  return replica;
}

absl::Status ReadReplicas(const Json& json,
                          const std::string& path,
                          UnknownKeys unknown_keys,
                          TrainingJob& job) {
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
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {"time", "grace", "output"}, unknown_keys));
  if (mapping.Find("time") != nullptr) {
    VERNIER_RETURN_IF_ERROR(mapping.Read("time", job.time_limit.emplace(), &ReadDuration));
  }
  VERNIER_RETURN_IF_ERROR(mapping.Read("grace", job.grace, &ReadDuration));
  return mapping.Read("output", job.output_bytes, &ReadMemory);
}

Json ReplicaToJson(const ReplicaSpec& replica) {
  Json json = {{"count", replica.count}};
  if (!replica.command.empty()) json["command"] = replica.command;
  if (!replica.args.empty()) json["args"] = replica.args;
  if (!replica.env.empty()) json["env"] = replica.env;
  if (!replica.directory.empty()) json["directory"] = replica.directory;
  json["cpus"] = replica.resources.cpus;
  json["memory"] = MemoryToJson(replica.resources.memory_bytes);
  json["gpus"] = replica.resources.gpus;
  if (!replica.resources.gpu_type.empty()) json["gpu_type"] = replica.resources.gpu_type;
  return json;
}

}  // namespace

absl::StatusOr<TrainingJob> ReadJob(const Json& json,
                                    const std::string& path,
                                    UnknownKeys unknown_keys) {
  TrainingJob job;
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json,
                    path,
                    {"command", "args", "env", "dir", "working_dir", "replicas", "limits"},
                    unknown_keys));
  VERNIER_RETURN_IF_ERROR(mapping.Read("command", job.command, &ReadCommand));
  VERNIER_RETURN_IF_ERROR(mapping.Read("args", job.args, &ReadTexts));
  VERNIER_RETURN_IF_ERROR(mapping.Read("env", job.env, &ReadTextMap));
  VERNIER_RETURN_IF_ERROR(mapping.Read("dir", job.job_directory, &ReadText));
  VERNIER_RETURN_IF_ERROR(mapping.Read("working_dir", job.working_directory, &ReadText));
  if (const Json* const replicas = mapping.Find("replicas")) {
    VERNIER_RETURN_IF_ERROR(ReadReplicas(*replicas, mapping.PathOf("replicas"), unknown_keys, job));
  }
  if (const Json* const limits = mapping.Find("limits")) {
    VERNIER_RETURN_IF_ERROR(ReadLimits(*limits, mapping.PathOf("limits"), unknown_keys, job));
  }
  return job;
}

Json JobToJson(const TrainingJob& job) {
  Json json = {{"command", job.command}};
  if (!job.args.empty()) json["args"] = job.args;
  if (!job.env.empty()) json["env"] = job.env;
  if (!job.job_directory.empty()) json["dir"] = job.job_directory;
  if (!job.working_directory.empty()) json["working_dir"] = job.working_directory;
  Json& replicas = json["replicas"] = Json::object();
  for (const auto& [role, replica] : job.replicas) {
    replicas[RoleName(role, job)] = ReplicaToJson(replica);
  }
  Json& limits = json["limits"] = Json::object();
  if (job.time_limit) limits["time"] = codec::FormatDuration(*job.time_limit);
  limits["grace"] = codec::FormatDuration(job.grace);
  limits["output"] = MemoryToJson(job.output_bytes);
  return json;
}

}  // namespace vernier::codec
