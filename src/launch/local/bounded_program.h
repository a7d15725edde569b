#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace vernier::launch {

// What becomes of a program's standard error: nobody sees it, or it is output, and a failure is told in its last line.
enum class Errors { kAreDropped, kAreOutput };

// What the program prints, if it exits with 0. argv[0] is looked up on PATH.
//
// A program that does not end in time is killed with its process group, and not waited for: one that hangs in a driver
// may be impossible to kill.
// NotFound: there is no such program.  DeadlineExceeded: it did not end in time.  Unavailable: it failed.
absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     absl::Duration patience,
                                     Errors errors = Errors::kAreDropped);

}  // namespace vernier::launch
