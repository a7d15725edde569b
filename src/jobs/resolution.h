#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/jobs/machine_catalogue.h"
#include "vernier/core/training_job.h"

// Resolves a job's description: machine types become CPUs, memory and GPUs; a training input of AI Platform Training
// becomes replicas, a program and its limits, after a check of that service's rules. Why this is done once, on the
// server: docs/adr/0024-training-inputs-are-resolved-once.md.
namespace vernier::jobs {

// Returns the job with all fields set that follow from its training input and its machine types. Resolving it again
// changes nothing.  InvalidArgument: a FieldError with the value and valid values; paths of a training input begin with
// "trainingInput", others are those of the study file.
absl::StatusOr<TrainingJob> Resolve(TrainingJob job, const MachineCatalogue& catalogue);

// The fields of the training input that are accepted but have no effect on one's own hosts: "trainingInput.network".
std::vector<std::string> FieldsWithoutEffect(const TrainingInput& input);

}  // namespace vernier::jobs
