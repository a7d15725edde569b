#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vernier/core/study.h"

// Placeholders for parameters in commands, arguments and environment: "{lr}". The rules are in layout.h.
namespace vernier::jobs {

// Placeholders besides the parameters; a parameter of the same name has precedence. This one is the path of a file that
// holds all parameters.
inline constexpr char kParametersFile[] = "parameters.json";
inline constexpr char kTrialNumber[] = "trial";
inline constexpr char kJobDirectory[] = "job_dir";  // The trial's directory, if the job has one.

// The values of placeholders: the point's, flags, and others by name.
struct PlaceholderValues {
  const StudySpec& spec;  // Must have a job.
  const Point& point;
  std::map<std::string, std::string, std::less<>> others;
};

// Whether placeholders are substituted in the study's job. Not for a training input, nor for a study without
// parameters: their texts are passed on byte for byte.
bool HasPlaceholders(const StudySpec& spec);

// All names in `{name}`, whether or not they have a value.
std::set<std::string> PlaceholderNames(std::string_view text);

// Replaces each placeholder by the parameter's value, or by its flag or nothing for a flag. Nothing if the text names
// an inactive parameter, which the point lacks. A name without a value is left unchanged.
std::optional<std::string> Substitute(std::string_view text, const PlaceholderValues& values);

// Whether `{name}` has a value in the study's job.
bool IsPlaceholder(std::string_view name, const StudySpec& spec);

// The flag for this value, empty if it is to be left out; nothing if the parameter is not given as a flag.
std::optional<std::string> FlagFor(const ParameterArgument& argument, const ParameterValue& value);

}  // namespace vernier::jobs
