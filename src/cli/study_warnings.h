#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/cli/context.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// Likely mistakes in a valid study, one sentence each, with what to write instead: it never ends; an entry of its
// metrics is named almost like an objective; mistakes in its job (JobWarningsOf).
std::vector<std::string> WarningsOf(const StudySpec& spec, bool runs_here = true);

// Prints a warning to standard error.
void PrintWarning(Context& context, std::string_view warning);

// Warns of a new study whose trials would find files of other trials in their folders (job.dir), maybe checkpoints of other
// points. Empty: there are none. To be asked before the study is created, as its own trials may start at once.
std::string UsedFolderWarning(const StudySpec& spec);

// Prints all of them.
void PrintWarnings(Context& context, const StudySpec& spec);

}  // namespace vernier::cli
