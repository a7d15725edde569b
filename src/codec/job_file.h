#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "src/codec/spec_form.h"
#include "vernier/core/study.h"

// The configuration file of a training job as users of AI Platform Training have it: `trainingInput`, and beside it
// `jobId` and `labels`, and what that service leaves no choice in, `restarts`. With `hyperparameters` it is a study; without, a study of one trial and nothing to tune.
namespace vernier::codec {

// Whether the document is of that kind, rather than a study file.
bool IsJobFile(const nlohmann::ordered_json& document);

// The study that the job stands for; its definition of the job is the input as given (TrainingJob::input).
// InvalidArgument: a FieldError, paths as in the file.
absl::StatusOr<StudySpec> ReadJobFile(const nlohmann::ordered_json& document,
                                      UnknownKeys unknown_keys);

// What to tune and how, as the hyperparameters of the study's training input say it; OK if there are none. A study that
// says so itself already must say the same.  InvalidArgument: a FieldError.
absl::Status ApplyHyperparameters(StudySpec& spec);

// Makes the study one of a job with nothing to tune: one trial.
void MakeJobAlone(StudySpec& spec);

}  // namespace vernier::codec
