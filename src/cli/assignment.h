#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/space.h"

// NAME=VALUE on a command line.
namespace vernier::cli {

// The point that the assignments define, each value in the type of its parameter. Whether the point lies in the space
// is checked by the server.
absl::StatusOr<Point> ParsePoint(const Space& space, const std::vector<std::string>& assignments);

// InvalidArgument: no "=", a name twice, not a number. `option` is named in messages.
absl::StatusOr<std::map<std::string, double>> ParseMetrics(
    const std::string& option, const std::vector<std::string>& assignments);

// Options of an algorithm or a rule, each as a boolean, an integer or a number if it reads as one, else as text.
// InvalidArgument: no "=", a name twice. `option` is named in messages.
absl::StatusOr<std::map<std::string, ParameterValue>> ParseOptions(
    const std::string& option, const std::vector<std::string>& assignments);

}  // namespace vernier::cli
