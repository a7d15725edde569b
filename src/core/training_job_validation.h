#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "vernier/core/training_job.h"

namespace vernier {

// Checks a job by itself.  InvalidArgument: a FieldError with a path as in the study file
// ("job.replicas.worker.count").
absl::Status CheckTrainingJob(const TrainingJob& job);

// Checks that a duration is above zero and finite.  InvalidArgument: a FieldError.
absl::Status CheckPositive(std::string_view path, absl::Duration duration);

}  // namespace vernier
