#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "src/codec/spec_form.h"
#include "vernier/core/training_input.h"

// A training input as JSON, in the two spellings that AI Platform Training has for it.
namespace vernier::codec {

// The key of a training input, in files of jobs and of studies.
inline constexpr char kTrainingInput[] = "trainingInput";

// As in a job's configuration file and in requests: `workerCount`, numbers as numbers or as text.
// InvalidArgument: a FieldError below `path`. Says nothing of whether the values make sense: src/jobs/resolution.h does.
absl::StatusOr<TrainingInput> ReadTrainingInput(const nlohmann::ordered_json& json,
                                                const std::string& path,
                                                UnknownKeys unknown_keys);

enum class FieldNames {
  kCamelCase,  // "workerCount": 9, as ReadTrainingInput takes it.
  kSnakeCase,  // "worker_count": "9", as programs find it in TF_CONFIG.
};
// What was given, and nothing else.
nlohmann::ordered_json TrainingInputToJson(const TrainingInput& input, FieldNames names);

}  // namespace vernier::codec
