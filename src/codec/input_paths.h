#pragma once

#include "absl/status/status.h"
#include "vernier/core/study.h"

namespace vernier::codec {

// An error of a study that came from a training input, naming the field of the input where it names the one of a study
// file that was filled in from it: "trainingInput.hyperparameters.resumePreviousJobId" for "warm_start[0]". Other errors
// are returned as they are.
absl::Status InWordsOfInput(absl::Status error, const StudySpec& spec);

// As InWordsOfInput, of a study that came from a job file: "restarts.replica" for "job.restarts.replica".
absl::Status InWordsOfJobFile(absl::Status error, const StudySpec& spec);

}  // namespace vernier::codec
