#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "vernier/core/training_job.h"

namespace vernier {

// InvalidArgument: a FieldError, paths as in the study file ("job.replicas.worker.count").
absl::Status CheckTrainingJob(const TrainingJob& job);

// InvalidArgument: zero, negative or endless.
absl::Status CheckPositive(std::string_view path, absl::Duration duration);

}  // namespace vernier
