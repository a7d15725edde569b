#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

// Flags of `gcloud ai-platform jobs submit training`, and how they combine with the configuration file.
namespace vernier::cli {

// Flags about one role.
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
  std::string kms_key;  // Its full name, or its last part together with the flags below.
  std::string kms_keyring;
  std::string kms_location;
  std::string kms_project;
  std::string project;  // Also the key's, if kms_project is empty.
  bool enable_web_access = false;
  std::vector<std::string> args;  // After "--".
};

void AddJobFlags(CLI::App& command, JobFlags& flags);

// The job as a configuration file (src/codec/job_file.h): `file`, overridden by the flags; lists are replaced, not
// joined. Packages are not considered.  InvalidArgument: names the flag.
absl::StatusOr<nlohmann::ordered_json> ApplyJobFlags(const std::string& job_id,
                                                     nlohmann::ordered_json file,
                                                     const JobFlags& flags);

}  // namespace vernier::cli
