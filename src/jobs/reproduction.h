#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier::jobs {

// Quotes the text for a POSIX shell if necessary.
std::string ShellQuote(std::string_view text);

// A command line that runs the gang again by hand in a POSIX shell: the primary in the foreground, the others in the
// background, ended with it. The metric file is left out, so that the record is not changed.
std::string ShellCommand(const GangProgram& gang);

// A command line that runs the trial's primary as the study defines it, without Vernier's variables: its folder, the
// file of the parameters if it reads one, its variables, its arguments.
// InvalidArgument: as MakeGangProgram.
// REQUIRES: spec.job.
absl::StatusOr<std::string> PrimaryCommand(const StudySpec& spec, const Trial& trial);

}  // namespace vernier::jobs
