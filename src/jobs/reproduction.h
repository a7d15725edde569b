#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier::jobs {

// The text quoted for a POSIX shell, only where it must be.
std::string ShellQuote(std::string_view text);

// One command line that runs the gang again by hand, for people to paste into a POSIX shell: the primary in front, the
// others behind it and ended when it ends. The metric file is left out, so that what was recorded stays as it is.
std::string ShellCommand(const GangProgram& gang);

// One command line that runs the trial's primary as the study defines it, without what the service adds: its folder, the
// file of the parameters if it reads one, its variables, its arguments.
// InvalidArgument: as MakeGangProgram.
// REQUIRES: spec.job.
absl::StatusOr<std::string> PrimaryCommand(const StudySpec& spec, const Trial& trial);

}  // namespace vernier::jobs
