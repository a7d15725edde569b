#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"

// AI Platform Training's built-in algorithms, which jobs named by images of its own: gcr.io/cloud-ml-algos/….
namespace vernier::jobs {

// The trainer that stands for the image of the input's master; nullopt: it has none, or one of another registry.
// InvalidArgument: an algorithm that is not offered, or one beside a program of the user's.
absl::StatusOr<std::optional<PythonProgram>> BuiltInProgram(const TrainingInput& input);

// InvalidArgument: the job, whose replicas are the input's, has others than its primary. Built-in algorithms have one.
absl::Status CheckOneReplica(const TrainingInput& input, const TrainingJob& job);

}  // namespace vernier::jobs
