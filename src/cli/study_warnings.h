#pragma once

#include <string>
#include <vector>

#include "src/cli/context.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// What is likely to be a mistake in a study that is valid, one sentence each, with what to write instead: it runs for ever;
// an entry of its metrics has almost the name of an objective; an option may be passed without its value; and, of a study
// that runs on this host, its program, or the script that it names, is not there.
std::vector<std::string> WarningsOf(const StudySpec& spec, bool runs_here = true);

// Prints them to standard error.
void PrintWarnings(Context& context, const StudySpec& spec);

}  // namespace vernier::cli
