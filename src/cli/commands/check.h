#pragma once

#include <string>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "src/cli/context.h"
#include "src/cli/exit_code.h"
#include "src/cli/runner.h"

// One trial of a study, started for a look: does the program start, and is its objective found?
namespace vernier::cli {

struct CheckArgs {
  std::string file;
  std::string timeout = "10m";
  CapacityFlags capacity;
  bool warns = false;  // Print warnings of likely mistakes before the trial starts.
};

void AddCheck(CLI::App& root, Action& chosen);

// The options, without the file.
void AddCheckOptions(CLI::App& command, CheckArgs& args);

// Runs the study's first trial in a temporary store, until its objective is measured, the program ends, the time is up
// or Ctrl-C is pressed. Shows the command line, what was measured and how long it took.
// kOk: the objective was measured.  kFailed: it was not, and why.
absl::StatusOr<ExitCode> CheckStudy(Context& context, const CheckArgs& args);

}  // namespace vernier::cli
