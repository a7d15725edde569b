// Flags are merged into the JSON of the configuration file, and the reader of job files checks the result. So a value
// is checked in one place, wherever it comes from, and what the API documents about the file holds for the flags.

#include "src/cli/job_flags.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/label_flags.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

// "nvidia-tesla-t4" in the API's spelling: "NVIDIA_TESLA_T4". The flags use lower case, the API constants.
std::string ApiName(std::string text) {
  std::ranges::replace(text, '-', '_');
  return absl::AsciiStrToUpper(text);
}

absl::StatusOr<Json> ReadAccelerator(const std::string& flag, const std::string& text) {
  Json accelerator = Json::object();
  VERNIER_ASSIGN_OR_RETURN(const auto pairs, ReadPairs(flag, text));
  for (const auto& [key, value] : pairs) {
    std::int64_t count = 0;
    if (key == "type") {
      accelerator["type"] = ApiName(value);
    } else if (key != "count") {
      return InvalidArgument("{}: knows count and type, got '{}'", flag, key);
    } else if (absl::SimpleAtoi(value, &count) && count > 0) {
      accelerator["count"] = count;
    } else {
      return InvalidArgument("{}: count must be a whole number above 0, got '{}'", flag, value);
    }
  }
  if (accelerator.size() == 2) return accelerator;
  return InvalidArgument(
      "{}: needs both, as in count=4,type=nvidia-tesla-t4, got '{}'", flag, text);
}

// Sets the key if the flag was given.
void Set(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// The file's mapping at the key, for adding to it; a new one if the key is absent.  InvalidArgument: the value is not a
// mapping.
absl::StatusOr<Json*> MappingAt(const std::string& key, Json& object, const std::string& path) {
  Json& value = object[key];
  if (value.is_null()) value = Json::object();
  if (value.is_object()) return &value;
  return InvalidArgument("--config: {} must be a mapping", path);
}

struct RoleNames {
  std::string flag;   // "parameter-server"
  std::string field;  // "parameterServer"
};

absl::Status SetRole(const RoleNames& names, const RoleFlags& role, Json& input) {
  // A master needs no count: a job has exactly one.
  const bool is_master = names.field == "master";
  if (!is_master && role.machine_type.empty() != (role.count == 0)) {
    return InvalidArgument("--{0}-machine-type and --{0}-count go together; give both or neither",
                           names.flag);
  }
  Set(input, (names.field + "Type").c_str(), role.machine_type);
  if (role.count > 0) input[names.field + "Count"] = role.count;
  if (role.accelerator.empty() && role.image_uri.empty()) return absl::OkStatus();
  const std::string key = names.field + "Config";
  VERNIER_ASSIGN_OR_RETURN(Json * config, MappingAt(key, input, "trainingInput." + key));
  if (!role.accelerator.empty()) {
    VERNIER_ASSIGN_OR_RETURN((*config)["acceleratorConfig"],
                             ReadAccelerator("--" + names.flag + "-accelerator", role.accelerator));
  }
  Set(*config, "imageUri", role.image_uri);
  return absl::OkStatus();
}

absl::Status SetLabels(const std::vector<std::string>& labels, Json& job) {
  for (const std::string& text : labels) {
    VERNIER_ASSIGN_OR_RETURN(const auto pairs, ReadPairs("--labels", text));
    VERNIER_ASSIGN_OR_RETURN(Json * all, MappingAt("labels", job, "labels"));
    for (const auto& [key, value] : pairs) (*all)[key] = value;
  }
  return absl::OkStatus();
}

// "replica=0,job=0,reading=lenient". The reader of job files checks the values.
absl::Status SetRestarts(const std::string& text, Json& job) {
  if (text.empty()) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const auto pairs, ReadPairs("--restarts", text));
  VERNIER_ASSIGN_OR_RETURN(Json * restarts, MappingAt("restarts", job, "restarts"));
  for (const auto& [key, value] : pairs) {
    std::int64_t count = 0;
    // A number where it reads as one: as text, the reader of job files would refuse a count.
    (*restarts)[key] = absl::SimpleAtoi(value, &count) ? Json(count) : Json(value);
  }
  return absl::OkStatus();
}

// The key's full name, which gcloud also takes in parts; empty if no key was given.
absl::StatusOr<std::string> KmsKeyName(const JobFlags& flags) {
  if (flags.kms_key.empty()) {
    for (const auto& [flag, value] : {std::pair("--kms-keyring", &flags.kms_keyring),
                                      std::pair("--kms-location", &flags.kms_location),
                                      std::pair("--kms-project", &flags.kms_project)}) {
      if (!value->empty()) return InvalidArgument("{}: '{}' needs --kms-key", flag, *value);
    }
    return std::string();
  }
  // A full name stands for itself.
  if (flags.kms_key.find('/') != std::string::npos) return flags.kms_key;
  const std::string& project = flags.kms_project.empty() ? flags.project : flags.kms_project;
  if (project.empty() || flags.kms_location.empty() || flags.kms_keyring.empty()) {
    return InvalidArgument(
        "--kms-key: must be a full name, projects/…/locations/…/keyRings/…/cryptoKeys/…, or come "
        "with --kms-keyring, --kms-location and --kms-project, got '{}'",
        flags.kms_key);
  }
  return fmt::format("projects/{}/locations/{}/keyRings/{}/cryptoKeys/{}",
                     project,
                     flags.kms_location,
                     flags.kms_keyring,
                     flags.kms_key);
}

void AddRoleFlags(CLI::App& command, const std::string& role, RoleFlags& flags) {
  command.add_option("--" + role + "-machine-type",
                     flags.machine_type,
                     "Machine type of each " + role + ", with --scale-tier custom");
  if (role != "master") {
    command.add_option("--" + role + "-count", flags.count, "Number of them")->check(AtLeast(1));
  }
  command.add_option("--" + role + "-accelerator",
                     flags.accelerator,
                     "GPUs of each: count=4,type=nvidia-tesla-t4");
  command.add_option("--" + role + "-image-uri", flags.image_uri, "Container image to run");
}

}  // namespace

void AddJobFlags(CLI::App& command, JobFlags& flags) {
  command.add_option(
      "--config", flags.config, "Configuration file with any of these settings; flags override it");
  command.add_option("--package-path", flags.package_path, "Folder of the Python package to run");
  AddListFlag(
      command, "--packages", flags.packages, "Python archives to install, separated by commas");
  command.add_option("--module-name", flags.module_name, "Python module to run, e.g. trainer.task");
  command.add_option(
      "--job-dir", flags.job_dir, "Output folder, passed to the program as --job-dir");
  command.add_option("--region", flags.region, "Region to run in (default: the server's)");
  command.add_option(
      "--runtime-version", flags.runtime_version, "Runtime version, as configured on the server");
  command.add_option("--python-version", flags.python_version, "Python version of the runtime");
  command.add_option("--scale-tier",
                     flags.scale_tier,
                     "Cluster size: basic (default), standard-1, premium-1, basic-gpu or custom");
  AddRoleFlags(command, "master", flags.master);
  AddRoleFlags(command, "worker", flags.worker);
  AddRoleFlags(command, "parameter-server", flags.parameter_server);
  // A function, since CLI11 sets an optional to false if the flag is absent; absent must stay distinct.
  command.add_flag_function(
      "--use-chief-in-tf-config",
      [&flags](std::int64_t yes) { flags.use_chief_in_tf_config = yes > 0; },
      "Name the first replica chief instead of master in TF_CONFIG (container images): true or "
      "false");
  command.add_option("--tpu-tf-version", flags.tpu_tf_version, "TensorFlow version of TPU workers");
  command.add_option("--labels", flags.labels, "Labels to find the job by: KEY=VALUE,…");
  command.add_option("--restarts",
                     flags.restarts,
                     "Restarts of a replica, reruns of the job, and the meaning of an exit status: "
                     "replica=5,job=3,internal=2,reading=strict (default)");
  command.add_option(
      "--service-account", flags.service_account, "Accepted for compatibility; no effect");
  command.add_option("--network", flags.network, "Accepted for compatibility; no effect");
  command.add_option("--kms-key", flags.kms_key, "Accepted for compatibility; no effect");
  command.add_option("--kms-keyring", flags.kms_keyring, "Key ring; no effect");
  command.add_option("--kms-location", flags.kms_location, "Location of the key; no effect");
  command.add_option("--kms-project", flags.kms_project, "Project of the key; no effect");
  command.add_flag(
      "--enable-web-access", flags.enable_web_access, "Accepted for compatibility; no effect");
}

absl::StatusOr<nlohmann::ordered_json> ApplyJobFlags(const std::string& job_id,
                                                     nlohmann::ordered_json file,
                                                     const JobFlags& flags) {
  if (file.is_null()) file = Json::object();
  if (!file.is_object()) {
    return InvalidArgument("--config: must be a mapping with trainingInput");
  }
  Json job = std::move(file);
  job["jobId"] = job_id;
  VERNIER_ASSIGN_OR_RETURN(Json* const training_input,
                           MappingAt("trainingInput", job, "trainingInput"));
  Json& input = *training_input;
  if (!flags.scale_tier.empty()) input["scaleTier"] = ApiName(flags.scale_tier);
  VERNIER_RETURN_IF_ERROR(SetRole({"master", "master"}, flags.master, input));
  VERNIER_RETURN_IF_ERROR(SetRole({"worker", "worker"}, flags.worker, input));
  VERNIER_RETURN_IF_ERROR(
      SetRole({"parameter-server", "parameterServer"}, flags.parameter_server, input));
  Set(input, "pythonModule", flags.module_name);
  Set(input, "jobDir", flags.job_dir);
  Set(input, "region", flags.region);
  Set(input, "runtimeVersion", flags.runtime_version);
  Set(input, "pythonVersion", flags.python_version);
  Set(input, "serviceAccount", flags.service_account);
  Set(input, "network", flags.network);
  VERNIER_ASSIGN_OR_RETURN(const std::string kms_key, KmsKeyName(flags));
  if (!kms_key.empty()) {
    VERNIER_ASSIGN_OR_RETURN(
        Json * config, MappingAt("encryptionConfig", input, "trainingInput.encryptionConfig"));
    (*config)["kmsKeyName"] = kms_key;
  }
  if (!flags.tpu_tf_version.empty()) {
    VERNIER_ASSIGN_OR_RETURN(Json * config,
                             MappingAt("workerConfig", input, "trainingInput.workerConfig"));
    (*config)["tpuTfVersion"] = flags.tpu_tf_version;
  }
  if (flags.use_chief_in_tf_config) input["useChiefInTfConfig"] = *flags.use_chief_in_tf_config;
  if (flags.enable_web_access) input["enableWebAccess"] = true;
  if (!flags.args.empty()) input["args"] = flags.args;
  VERNIER_RETURN_IF_ERROR(SetLabels(flags.labels, job));
  VERNIER_RETURN_IF_ERROR(SetRestarts(flags.restarts, job));
  return job;
}

}  // namespace vernier::cli
