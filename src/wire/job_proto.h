#pragma once

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"
#include "vernier/v1/training_job.pb.h"

// Training jobs.
namespace vernier::wire {

void EncodeJob(const TrainingJob& job, v1::TrainingJob* out);
// InvalidArgument: a FieldError with path "job…".
absl::StatusOr<TrainingJob> DecodeJob(const v1::TrainingJob& job);

}  // namespace vernier::wire
