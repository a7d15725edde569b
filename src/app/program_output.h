#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vernier::app {

struct ProgramOutput {
  int status = 0;    // Its exit status; of one that a signal ended, 128 and the signal's number.
  std::string text;  // Both of its streams, as they came.
};

// Runs a program with nothing to read, and tells what it prints, however it ends. argv[0] is looked up on PATH.
// One that does not end in time is killed with its process group.
// NotFound: there is no such program.  DeadlineExceeded: it did not end in time.
absl::StatusOr<ProgramOutput> RunForOutput(const std::vector<std::string>& argv,
                                           absl::Duration patience);

}  // namespace vernier::app
