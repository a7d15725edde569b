#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"

// AI Platform Training's built-in algorithms, which jobs named by images of its own: gcr.io/cloud-ml-algos/….
namespace vernier::jobs {

// The trainer that stands for the image of the input's master; nullopt: it has none, or one of another registry.
// InvalidArgument: an algorithm that is not offered, or one beside a program of the user's.
absl::StatusOr<std::optional<PythonProgram>> BuiltInProgram(const TrainingInput& input);

// InvalidArgument: a role other than the primary cannot run the built-in algorithm of this image, or the primary runs
// another one. `field` names the image in the input.
absl::Status CheckBuiltInImage(const TrainingInput& input,
                               Role role,
                               std::string_view field,
                               std::string_view image);

// InvalidArgument: the job, whose replicas are the input's, has a role that its built-in algorithm does not use: all but
// the primary, and for XGBoost the workers.
absl::Status CheckBuiltInReplicas(const TrainingInput& input, const TrainingJob& job);

}  // namespace vernier::jobs
