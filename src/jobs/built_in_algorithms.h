#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"

// Maps AI Platform Training's built-in algorithms, which jobs named by images (gcr.io/cloud-ml-algos/…), to built-in
// trainers: docs/adr/0026-built-in-trainers.md.
namespace vernier::jobs {

// The trainer for the image of the input's master; nullopt: it has no image, or one of another registry.
// InvalidArgument: an algorithm that is not offered, or one together with a program of the user's.
absl::StatusOr<std::optional<PythonProgram>> BuiltInProgram(const TrainingInput& input);

// Checks the image of a role other than the primary.
// InvalidArgument: the role cannot run this built-in algorithm, or the primary runs another one. `field` names the
// image in the input.
absl::Status CheckBuiltInImage(const TrainingInput& input,
                               Role role,
                               std::string_view field,
                               std::string_view image);

// Checks the job's replicas, which follow from the input.
// InvalidArgument: the job has a role that its built-in algorithm does not use: any but the primary, and for XGBoost
// the workers.
absl::Status CheckBuiltInReplicas(const TrainingInput& input, const TrainingJob& job);

}  // namespace vernier::jobs
