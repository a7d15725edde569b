#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/history.h"
#include "src/cli/terminal/pareto.h"

namespace vernier::cli {

// The study's trials as points of a picture; trials without a value are left out.
absl::StatusOr<History> LoadHistory(Connection& connection, const StudyRecord& study);

// Its completed trials by two of its objectives; where a name is empty, the first that is left.
// InvalidArgument: it has one objective only, or none of that name.
absl::StatusOr<ParetoPicture> LoadPareto(Connection& connection,
                                         const StudyRecord& study,
                                         const std::string& x,
                                         const std::string& y);

// InvalidArgument: the file cannot be written.
absl::Status WriteSvg(const std::string& svg, const std::string& path);

}  // namespace vernier::cli
