#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/resources.h"

namespace vernier::cli {

// What is left to say when a run has ended: the best trial, how to reproduce it, where its logs are, what to try next; with
// `plot`, a picture of the search. Programs that asked for one document get the best trial, or the study if there is none.
absl::Status SumUp(Context& context, Connection& connection, const StudyRecord& study, bool plot);

// "next        vernier trial logs digits 1": the command that shows why the study's first failed trial failed, and a second
// that lists all trials; empty: none has failed.
absl::StatusOr<std::string> AfterFailure(const Context& context,
                                         Connection& connection,
                                         const StudyRecord& study);

}  // namespace vernier::cli
