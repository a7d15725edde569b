#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/interrupts.h"
#include "vernier/core/study.h"

namespace vernier::cli {

struct JobLogOptions {
  std::string task;      // Only this task: "worker-replica-1". Empty: all.
  bool plain = false;    // Lines as printed and nothing else, standard error on standard error.
  bool one_line = true;  // A head for each line of a message; otherwise only for the first.
  // The job runs on a server inside this process and must end with the command: an interrupt stops it.
  bool live = false;
};

// Prints the output of all attempts of all trials of a job, ordered by time as far as it has arrived, until the job has
// ended or is interrupted; if no server runs the study, prints what is stored. Returns the study in its final state.
absl::StatusOr<Study> StreamJobLogs(Context& context,
                                    Connection& connection,
                                    const std::string& study,
                                    const JobLogOptions& options,
                                    Interrupts& interrupts);

}  // namespace vernier::cli
