#pragma once

#include "absl/status/statusor.h"
#include "src/codec/mapping.h"
#include "vernier/core/training_job.h"

namespace vernier::codec {

// The `job` of a study file.
absl::StatusOr<TrainingJob> ReadJob(const Json& json,
                                    const std::string& path,
                                    UnknownKeys unknown_keys);
Json JobToJson(const TrainingJob& job);

// The `restarts` of a job, in a study file or a job file.
absl::StatusOr<RestartPolicy> ReadRestarts(const Json& json,
                                           const std::string& path,
                                           UnknownKeys unknown_keys);
// What differs from the default; an empty object: nothing does.
Json RestartsToJson(const RestartPolicy& restarts);

// InvalidArgument: the study file has a key of a job, or of one of its replicas, at the top.
absl::Status RefuseJobKeys(const Json& document);

}  // namespace vernier::codec
