#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

// The flags by which users of `gcloud ai-platform jobs submit training` describe a job, and the configuration file that
// they stand above.
namespace vernier::cli {

// What one role of the job is given by flags.
struct RoleFlags {
  std::string machine_type;
  std::int64_t count = 0;
  std::string accelerator;  // "count=4,type=nvidia-tesla-t4"
  std::string image_uri;
};

struct JobFlags {
  std::string config;
  std::vector<std::string> packages;
  std::string package_path;
  std::string module_name;
  std::string job_dir;
  std::string region;
  std::string runtime_version;
  std::string python_version;
  std::string scale_tier;
  RoleFlags master;
  RoleFlags worker;
  RoleFlags parameter_server;
  std::optional<bool> use_chief_in_tf_config;
  std::string tpu_tf_version;
  std::vector<std::string> labels;  // "owner=alice"
  std::string restarts;             // "replica=0,reading=lenient"
  std::string service_account;
  std::string network;
  std::string kms_key;  // Its full name, or the last part of it, with the others.
  std::string kms_keyring;
  std::string kms_location;
  std::string kms_project;
  std::string project;  // Also of the key, where kms_project is not set.
  bool enable_web_access = false;
  std::vector<std::string> args;  // After "--".
};

void AddJobFlags(CLI::App& command, JobFlags& flags);

// The configuration file of the job (src/codec/job_file.h): `file`, with the flags over it; lists are replaced, not
// joined. Packages are not looked at here.  InvalidArgument: names the flag.
absl::StatusOr<nlohmann::ordered_json> ApplyJobFlags(const std::string& job_id,
                                                     nlohmann::ordered_json file,
                                                     const JobFlags& flags);

}  // namespace vernier::cli
