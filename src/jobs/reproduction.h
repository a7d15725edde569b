#pragma once

#include <string>
#include <string_view>

#include "vernier/launcher.h"

namespace vernier::jobs {

// The text quoted for a POSIX shell, only where it must be.
std::string ShellQuote(std::string_view text);

// One command line that runs the gang again by hand, for people to paste into a POSIX shell: the primary in front, the
// others behind it and ended when it ends. The metric file is left out, so that what was recorded stays as it is.
std::string ShellCommand(const GangProgram& gang);

}  // namespace vernier::jobs
