#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"

// Parameters named in commands, arguments and environment: "{lr}". docs in layout.h.
namespace vernier::jobs {

// The placeholder of a file that holds all parameters, unless a parameter has this name.
inline constexpr char kParametersFile[] = "parameters.json";

// What placeholders stand for: values of the point, flags that are given or not, and the path of the file.
struct PlaceholderValues {
  const StudySpec& spec;  // With a job.
  const Point& point;
  std::string parameters_file;
};

// The names in `{name}` of the text, whether or not they are parameters.
std::set<std::string> PlaceholderNames(std::string_view text);

// The text with every placeholder replaced by the parameter's value, or by its flag or nothing if it is one; nothing at all
// if it names an inactive parameter, which is absent from the point.
// InvalidArgument: a FieldError at `path` for a name that is no parameter.
absl::StatusOr<std::optional<std::string>> Substitute(std::string_view text,
                                                      const PlaceholderValues& values,
                                                      std::string_view path);

// InvalidArgument: as Substitute.
absl::Status CheckPlaceholders(std::string_view text, const StudySpec& spec, std::string_view path);

// The flag if it is to be given with this value, else empty; nothing if the parameter is not given as a flag.
std::optional<std::string> FlagFor(const ParameterArgument& argument, const ParameterValue& value);

}  // namespace vernier::jobs
