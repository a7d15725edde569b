#pragma once

#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier::cli {

// What is likely to be a mistake in the job of a study, one sentence each, with what to write instead. REQUIRES: spec.job.
// - A name in braces stands for nothing; an option is passed without its value where a parameter is inactive.
// - A word of a command is meant for a shell: `&&`, `|`, `NAME=value` before the program.
// - `FIXME` still stands where `vernier init` left a value open.
// - A variable of `env` is one that Vernier sets itself, or looks like a secret.
// - Of a study that runs on this host: its program, or the script that it names, is not there; the file of a secret cannot
//   be read, or every user may read it.
std::vector<std::string> JobWarningsOf(const StudySpec& spec, bool runs_here);

}  // namespace vernier::cli
