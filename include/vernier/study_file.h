#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

namespace vernier {

// Reads a study file in YAML or JSON (docs/formats/study_file.md), or a configuration file of a training job of AI
// Platform.
//
//   const absl::StatusOr<StudySpec> spec = ParseStudyFile(
//       "study: digits\n"
//       "objective: {minimize: loss}\n"
//       "parameters: {lr: {float: [1e-5, 0.1], scale: log}}\n");
//
// `name`, if not empty, replaces the name in the file. YAML follows the core schema, except that `1e-5` is a number,
// and `on` and `no` are text.
// InvalidArgument: a FieldError. An unknown key is an error that names the nearest known key; a syntax error names the
// line.
absl::StatusOr<StudySpec> ParseStudyFile(std::string_view text, std::string_view name = "");

// Writes the definition as YAML. ParseStudyFile(FormatStudyFile(spec)) returns an equal definition.
std::string FormatStudyFile(const StudySpec& spec);

}  // namespace vernier
