#pragma once

#include <type_traits>

#include "vernier/core/training_input.h"

// The fields of a training input with their names in AI Platform Training's API (ml.v1, TrainingInput). Code that reads
// or writes a format of it calls Describe with a visitor `visit(const char* key, auto& field)`, so that the list of
// fields exists once.
namespace vernier {

template <typename T, typename U>
concept Same = std::is_same_v<std::remove_const_t<T>, U>;

void Describe(auto& visit, Same<AcceleratorConfig> auto& accelerator) {
  visit("count", accelerator.count);
  visit("type", accelerator.type);
}

void Describe(auto& visit, Same<DiskConfig> auto& disk) {
  visit("bootDiskSizeGb", disk.boot_disk_size_gb);
  visit("bootDiskType", disk.boot_disk_type);
}

void Describe(auto& visit, Same<ReplicaConfig> auto& replica) {
  visit("acceleratorConfig", replica.accelerator_config);
  visit("imageUri", replica.image_uri);
  visit("containerCommand", replica.container_command);
  visit("containerArgs", replica.container_args);
  visit("diskConfig", replica.disk_config);
  visit("tpuTfVersion", replica.tpu_tf_version);
}

void Describe(auto& visit, Same<JobScheduling> auto& scheduling) {
  visit("maxRunningTime", scheduling.max_running_time);
  visit("maxWaitTime", scheduling.max_wait_time);
  visit("priority", scheduling.priority);
}

void Describe(auto& visit, Same<EncryptionConfig> auto& encryption) {
  visit("kmsKeyName", encryption.kms_key_name);
}

void Describe(auto& visit, Same<HyperparameterParam> auto& param) {
  visit("parameterName", param.parameter_name);
  visit("type", param.type);
  visit("minValue", param.min_value);
  visit("maxValue", param.max_value);
  visit("categoricalValues", param.categorical_values);
  visit("discreteValues", param.discrete_values);
  visit("scaleType", param.scale_type);
}

void Describe(auto& visit, Same<HyperparameterSpec> auto& spec) {
  visit("goal", spec.goal);
  visit("hyperparameterMetricTag", spec.hyperparameter_metric_tag);
  visit("maxTrials", spec.max_trials);
  visit("maxParallelTrials", spec.max_parallel_trials);
  visit("maxFailedTrials", spec.max_failed_trials);
  visit("enableTrialEarlyStopping", spec.enable_trial_early_stopping);
  visit("resumePreviousJobId", spec.resume_previous_job_id);
  visit("algorithm", spec.algorithm);
  visit("params", spec.params);
}

void Describe(auto& visit, Same<TrainingInput> auto& input) {
  visit("scaleTier", input.scale_tier);
  visit("masterType", input.master_type);
  visit("masterConfig", input.master_config);
  visit("workerType", input.worker_type);
  visit("workerConfig", input.worker_config);
  visit("workerCount", input.worker_count);
  visit("parameterServerType", input.parameter_server_type);
  visit("parameterServerConfig", input.parameter_server_config);
  visit("parameterServerCount", input.parameter_server_count);
  visit("evaluatorType", input.evaluator_type);
  visit("evaluatorConfig", input.evaluator_config);
  visit("evaluatorCount", input.evaluator_count);
  visit("packageUris", input.package_uris);
  visit("pythonModule", input.python_module);
  visit("args", input.args);
  visit("hyperparameters", input.hyperparameters);
  visit("region", input.region);
  visit("jobDir", input.job_dir);
  visit("runtimeVersion", input.runtime_version);
  visit("pythonVersion", input.python_version);
  visit("scheduling", input.scheduling);
  visit("network", input.network);
  visit("serviceAccount", input.service_account);
  visit("useChiefInTfConfig", input.use_chief_in_tf_config);
  visit("encryptionConfig", input.encryption_config);
  visit("enableWebAccess", input.enable_web_access);
}

}  // namespace vernier
