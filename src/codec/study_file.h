#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "vernier/core/study.h"
#include "vernier/study_file.h"

// The study file: how users write a study, in YAML or JSON. docs/formats/study_file.md describes it.
namespace vernier::codec {

using vernier::ParseStudyFile;

// A study from and to a JSON document of that shape. ToJson fills in every default and keeps the order of parameters;
// FromJson(ToJson(spec)) == spec.
absl::StatusOr<StudySpec> StudySpecFromJson(const nlohmann::ordered_json& document);
nlohmann::ordered_json StudySpecToJson(const StudySpec& spec);

// The study file as YAML text, for `study show -o yaml` and exports.
std::string StudySpecToYaml(const StudySpec& spec);

// Any JSON document as YAML text.
std::string JsonToYaml(const nlohmann::ordered_json& document);

// "90s", "30m", "2h", "1h30m" and back.  InvalidArgument: not a duration, or negative.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view text);
std::string FormatDuration(absl::Duration duration);

}  // namespace vernier::codec
