#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace vernier::cli {

// What the program's exit tells scripts. Documented in `vernier --help` and docs/guides/cli.md; never renumbered.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,  // The study failed, a replay diverged, or something broke.
  kUsage = 2,   // A bad command line, bad input, or a call that the state of things forbids.
  kNotFound = 3,
  kStop = 3,  // Of `report`: the trial is to end.
  kTimeout = 4,
  kDenied = 5,
  kUnavailable = 6,  // The server or the store cannot be reached.
  kInterrupted = 130,
};

ExitCode ExitCodeOf(const absl::Status& status);
// Of a command that a signal ended, as shells have it: 128 + the signal, kInterrupted for SIGINT.
constexpr ExitCode ExitCodeOfSignal(int number) { return static_cast<ExitCode>(128 + number); }

// The table of exit codes, for --help.
std::string_view ExitCodeHelp();

}  // namespace vernier::cli
