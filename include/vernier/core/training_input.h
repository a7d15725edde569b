#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

// A training job in the format of AI Platform Training's API (projects.jobs, TrainingInput): the same fields, as given,
// without defaults. Empty text, an empty list or a count of 0 means that the field was not given, as on the wire.
// docs/guides/coming-from-ai-platform.md and docs/guides/training_jobs.md say what Vernier does with each field.
namespace vernier {

struct AcceleratorConfig {
  std::string type;  // "NVIDIA_TESLA_T4"
  std::int64_t count = 0;
  friend bool operator==(const AcceleratorConfig&, const AcceleratorConfig&) = default;
};

struct DiskConfig {
  std::int32_t boot_disk_size_gb = 0;
  std::string boot_disk_type;
  friend bool operator==(const DiskConfig&, const DiskConfig&) = default;
};

struct ReplicaConfig {
  std::optional<AcceleratorConfig> accelerator_config;
  std::string image_uri;
  std::vector<std::string> container_command;
  std::vector<std::string> container_args;
  std::optional<DiskConfig> disk_config;
  std::string tpu_tf_version;
  friend bool operator==(const ReplicaConfig&, const ReplicaConfig&) = default;
};

struct JobScheduling {
  std::optional<absl::Duration> max_running_time;
  std::optional<absl::Duration> max_wait_time;
  std::int32_t priority = 0;
  friend bool operator==(const JobScheduling&, const JobScheduling&) = default;
};

struct EncryptionConfig {
  std::string kms_key_name;
  friend bool operator==(const EncryptionConfig&, const EncryptionConfig&) = default;
};

struct HyperparameterParam {
  std::string parameter_name;
  std::string type;  // "DOUBLE", "INTEGER", "CATEGORICAL", "DISCRETE"
  std::optional<double> min_value;
  std::optional<double> max_value;
  std::vector<std::string> categorical_values;
  std::vector<double> discrete_values;
  std::string scale_type;  // "UNIT_LOG_SCALE"
  friend bool operator==(const HyperparameterParam&, const HyperparameterParam&) = default;
};

struct HyperparameterSpec {
  std::string goal;  // "MAXIMIZE", "MINIMIZE"
  std::vector<HyperparameterParam> params;
  std::int32_t max_trials = 0;
  std::int32_t max_parallel_trials = 0;
  std::int32_t max_failed_trials = 0;
  std::string hyperparameter_metric_tag;
  std::string resume_previous_job_id;
  bool enable_trial_early_stopping = false;
  std::string algorithm;  // "GRID_SEARCH"
  friend bool operator==(const HyperparameterSpec&, const HyperparameterSpec&) = default;
};

struct TrainingInput {
  std::string scale_tier;  // "CUSTOM"
  std::string master_type;
  std::string worker_type;
  std::string parameter_server_type;
  std::string evaluator_type;
  std::optional<ReplicaConfig> master_config;
  std::optional<ReplicaConfig> worker_config;
  std::optional<ReplicaConfig> parameter_server_config;
  std::optional<ReplicaConfig> evaluator_config;
  std::int64_t worker_count = 0;
  std::int64_t parameter_server_count = 0;
  std::int64_t evaluator_count = 0;
  std::vector<std::string> package_uris;
  std::string python_module;
  std::vector<std::string> args;
  std::optional<HyperparameterSpec> hyperparameters;
  std::string region;
  std::string job_dir;
  std::string runtime_version;
  std::string python_version;
  std::optional<JobScheduling> scheduling;
  std::string network;
  std::string service_account;
  bool use_chief_in_tf_config = false;
  std::optional<EncryptionConfig> encryption_config;
  bool enable_web_access = false;
  friend bool operator==(const TrainingInput&, const TrainingInput&) = default;
};

}  // namespace vernier
