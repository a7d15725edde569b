#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/launch/slurm/slurm.h"

// Reads what `squeue --json`, `sinfo --json` and slurmrestd answer. Both generations of that JSON are read: plain values,
// up to Slurm 22.05, and those of the data_parser plugins, from 23.02 on, where states are lists and numbers are objects
// {set, infinite, number}. Unknown keys are ignored, and what is missing keeps its default.
namespace vernier::launch::slurm {

// Unavailable: Slurm lists an error that means that the controller did not answer.  FailedPrecondition: not JSON of that kind;
// the message names what is wrong, or the errors that Slurm lists in it.
absl::StatusOr<std::vector<JobRecord>> ParseJobs(std::string_view json);
absl::StatusOr<std::vector<NodeRecord>> ParseNodes(std::string_view json);

// The errors that Slurm lists in an answer of either kind, or of another. OK: none, or it is not JSON.
// Unavailable: as above.  InvalidArgument: others.
absl::Status ErrorsIn(std::string_view json);

}  // namespace vernier::launch::slurm
