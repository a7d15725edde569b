#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vernier/core/study.h"

// Parameters named in commands, arguments and environment: "{lr}". docs in layout.h.
namespace vernier::jobs {

// Placeholders beside the parameters; a parameter of the same name goes before.
inline constexpr char kParametersFile[] =
    "parameters.json";  // The path of a file that holds all parameters.
inline constexpr char kTrialNumber[] = "trial";
inline constexpr char kJobDirectory[] = "job_dir";  // Of the trial, where the job has one.

// What placeholders stand for: values of the point, flags that are given or not, and the others by name.
struct PlaceholderValues {
  const StudySpec& spec;  // With a job.
  const Point& point;
  std::map<std::string, std::string, std::less<>> others;
};

// Whether the texts of the study's job have placeholders: not those of a training input, nor of a study without parameters,
// whose texts are passed on byte for byte.
bool HasPlaceholders(const StudySpec& spec);

// The names in `{name}` of the text, whether or not they stand for anything.
std::set<std::string> PlaceholderNames(std::string_view text);

// The text with every placeholder replaced by the parameter's value, or by its flag or nothing if it is one; nothing at all
// if it names an inactive parameter, which is absent from the point. A name that stands for nothing stays as it is.
std::optional<std::string> Substitute(std::string_view text, const PlaceholderValues& values);

// Whether `{name}` stands for something in the study's job.
bool IsPlaceholder(std::string_view name, const StudySpec& spec);

// The flag if it is to be given with this value, else empty; nothing if the parameter is not given as a flag.
std::optional<std::string> FlagFor(const ParameterArgument& argument, const ParameterValue& value);

}  // namespace vernier::jobs
