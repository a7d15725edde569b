#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Finds programs of this host, and runs them for what they print.
namespace vernier::launch {

// Whether this user may execute the file.
bool IsProgram(const std::string& path);

// The absolute path of the program with this name on PATH.
std::optional<std::string> FindProgram(std::string_view name);

// The supervisor beside this program, else on PATH.  NotFound: there is none.
absl::StatusOr<std::string> FindSupervisor();

// Whether a program's standard error is discarded, or belongs to the output, whose last line then explains a failure.
enum class Errors { kAreDropped, kAreOutput };

// Returns the output of the program if it exits with 0. argv[0] is looked up on PATH.
//
// A program that does not end in time is killed with its process group, and is not waited for: one that hangs in a
// driver may be impossible to kill.
// NotFound: there is no such program.  DeadlineExceeded: it did not end in time.  Unavailable: it failed.
absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     absl::Duration patience,
                                     Errors errors = Errors::kAreDropped);

}  // namespace vernier::launch
