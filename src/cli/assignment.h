#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/space.h"

// NAME=VALUE on a command line.
namespace vernier::cli {

// The point that the assignments spell out, each value in the type of its parameter. Whether the point is legal, the
// study decides.
// InvalidArgument: no "=", a name twice, no such parameter (with the nearest), a value of the wrong type.
absl::StatusOr<Point> ParsePoint(const Space& space, const std::vector<std::string>& assignments);

// InvalidArgument: no "=", a name twice, not a number. `option` is named in messages.
absl::StatusOr<std::map<std::string, double>> ParseMetrics(
    const std::string& option, const std::vector<std::string>& assignments);

}  // namespace vernier::cli
