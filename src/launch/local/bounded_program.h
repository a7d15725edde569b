#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vernier::launch {

// What the program prints to its standard output, if it exits with 0. argv[0] is looked up on PATH.
//
// A program that does not end in time is killed with its process group, and not waited for: one that hangs in a driver
// may be impossible to kill.
// NotFound: there is no such program.  DeadlineExceeded: it did not end in time.  Unavailable: it failed.
absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv, absl::Duration patience);

}  // namespace vernier::launch
