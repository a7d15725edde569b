#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vernier::app {

struct ProgramOutput {
  int status = 0;    // Its exit status; 128 + N if signal N ended it.
  std::string text;  // Its standard output and error, interleaved.
};

// Runs a program with empty standard input and returns its output, however it ends. argv[0] is looked up on PATH. A
// program that does not end in time is killed with its process group.
// NotFound: there is no such program.  DeadlineExceeded: it did not end in time.
absl::StatusOr<ProgramOutput> RunForOutput(const std::vector<std::string>& argv,
                                           absl::Duration patience);

}  // namespace vernier::app
