#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/cli/context.h"
#include "vernier/core/study.h"

namespace vernier::cli {

// What is likely to be a mistake in a study that is valid, one sentence each, with what to write instead: it runs for ever;
// an entry of its metrics has almost the name of an objective; and those of its job (JobWarningsOf).
std::vector<std::string> WarningsOf(const StudySpec& spec, bool runs_here = true);

// Prints one to standard error.
void PrintWarning(Context& context, std::string_view warning);

// Prints all of them.
void PrintWarnings(Context& context, const StudySpec& spec);

}  // namespace vernier::cli
