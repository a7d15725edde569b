#pragma once

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "src/codec/file_form.h"
#include "vernier/core/training_job.h"

// The form of jobs in study files and job files.
namespace vernier::codec {

// The `job` of a study file.
template <>
struct FileForm<TrainingJob> {
  static Json Write(const TrainingJob& job);
  static absl::Status Read(const Json& json, const FilePlace& place, TrainingJob& job);
};

// The `restarts` of a job, in a study file or a job file. Written is what differs from the default.
template <>
struct FileForm<RestartPolicy> {
  static bool IsEmpty(const RestartPolicy& restarts) { return restarts == RestartPolicy(); }
  static Json Write(const RestartPolicy& restarts);
  static absl::Status Read(const Json& json, const FilePlace& place, RestartPolicy& restarts);
};

// InvalidArgument: the study file has a key of a job, or of one of its replicas, at the top.
absl::Status RefuseJobKeys(const Json& document);

}  // namespace vernier::codec
