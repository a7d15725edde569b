#pragma once

#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier::cli {

// Likely mistakes in the job of a study, one sentence each, with what to write instead. REQUIRES: spec.job.
// - A name in braces that no placeholder has; an option passed without its value where a parameter is inactive.
// - A word meant for a shell: `&&`, `|`, `NAME=value` before the program.
// - `FIXME` where `vernier init` left a value open.
// - A variable of `env` that Vernier sets itself, or that looks like a secret.
// - For a study that runs on this host: a missing program or script; a file of a secret that cannot be read, or that every user
//   may read.
std::vector<std::string> JobWarningsOf(const StudySpec& spec, bool runs_here);

}  // namespace vernier::cli
