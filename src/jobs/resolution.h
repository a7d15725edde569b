#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/jobs/machine_catalogue.h"
#include "vernier/core/training_job.h"

// From what a user says of a job to what it comes to: machine types become CPUs, memory and GPUs, and a training input
// of AI Platform Training becomes replicas, a program and its limits, once all of that service's rules were checked.
namespace vernier::jobs {

// The job with everything filled in that follows from its training input and its machine types. Resolving it again
// changes nothing.  InvalidArgument: a FieldError with the value and what would be valid; paths of a training input
// begin with "trainingInput", others are the study file's.
absl::StatusOr<TrainingJob> Resolve(TrainingJob job, const MachineCatalogue& catalogue);

// Fields of the training input that are taken and mean nothing on hosts of one's own: "trainingInput.network".
std::vector<std::string> FieldsWithoutEffect(const TrainingInput& input);

}  // namespace vernier::jobs
