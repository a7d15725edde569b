#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace vernier::cli {

// Exit codes for scripts. Documented in `vernier --help` and docs/guides/cli.md; never renumbered.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,  // The study failed, a replay diverged, or something broke.
  kUsage = 2,   // A bad command line, bad input, or a call that the current state forbids.
  kNotFound = 3,
  kStop = 3,  // Of `report`: the trial must stop.
  kTimeout = 4,
  kDenied = 5,
  kUnavailable = 6,  // The server or the store cannot be reached.
  kInterrupted = 130,
};

ExitCode ExitCodeOf(const absl::Status& status);
// Of a command that a signal ended, by the convention of shells: 128 + the signal, so kInterrupted for SIGINT.
constexpr ExitCode ExitCodeOfSignal(int number) { return static_cast<ExitCode>(128 + number); }

// The table of exit codes, for --help.
std::string_view ExitCodeHelp();

}  // namespace vernier::cli
