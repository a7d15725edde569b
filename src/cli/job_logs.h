#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/interrupts.h"
#include "vernier/core/study.h"

namespace vernier::cli {

struct JobLogOptions {
  std::string task;      // Only this one: "worker-replica-1". Empty: all.
  bool plain = false;    // What was printed and nothing else, standard error where it belongs.
  bool one_line = true;  // A line for each line of a message; else a message may span several.
  // A server inside this process runs the job, which is stopped with the command: an interrupt stops it.
  bool live = false;
};

// Prints what the replicas of all attempts of all trials of a job print, in the order of time as far as it came, until it has ended or is interrupted; of a study that nobody
// runs, what there is. Returns the study as it is then.
absl::StatusOr<Study> StreamJobLogs(Context& context,
                                    Connection& connection,
                                    const std::string& study,
                                    const JobLogOptions& options,
                                    Interrupts& interrupts);

}  // namespace vernier::cli
