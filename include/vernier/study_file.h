#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

namespace vernier {

// The study that a study file describes, in YAML or JSON (docs/formats/study_file.md). YAML by the rules of its core schema with
// two mends: `1e-5` is a number, `on` and `no` are text. The configuration file of a training job of AI Platform is one too. `name`,
// unless it is empty, takes the place of the file's own.
// InvalidArgument: a FieldError; unknown keys are errors that name the nearest known key; syntax errors name the line.
absl::StatusOr<StudySpec> ParseStudyFile(std::string_view text, std::string_view name = "");

// As YAML.  ParseStudyFile(FormatStudyFile(spec)) gives `spec`.
std::string FormatStudyFile(const StudySpec& spec);

}  // namespace vernier
