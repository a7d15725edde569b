#pragma once

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/history.h"

namespace vernier::cli {

// The study's trials as points of a picture; trials without a value are left out.
absl::StatusOr<History> LoadHistory(Connection& connection, const StudyRecord& study);

}  // namespace vernier::cli
