#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/resources.h"

namespace vernier::cli {

// Prints the summary of a run that has ended: the best trial, how to reproduce it, where its logs are, what to do next;
// with `plot`, a figure. Formats with one document get the best trial, or the study if there is none.
absl::Status SumUp(Context& context, Connection& connection, const StudyRecord& study, bool plot);

// The commands that show why the study's last failed trial failed, and that list all trials: "next        vernier trial
// logs digits 1"; empty: no trial has failed.
absl::StatusOr<std::string> AfterFailure(const Context& context,
                                         Connection& connection,
                                         const StudyRecord& study);

}  // namespace vernier::cli
