#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "vernier/core/training_job.h"

namespace vernier {

// Bounds of a job, in whatever words it is given.
inline constexpr std::int32_t kMaxReplicas = 10000;  // Of a role.
inline constexpr std::size_t kMaxPackages = 100;
inline constexpr std::int32_t kMaxPriority = 1000;

// InvalidArgument: a FieldError, paths as in the study file ("job.replicas.worker.count").
absl::Status CheckTrainingJob(const TrainingJob& job);

// InvalidArgument: zero, negative or endless.
absl::Status CheckPositive(std::string_view path, absl::Duration duration);

}  // namespace vernier
