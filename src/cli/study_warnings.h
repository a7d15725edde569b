#pragma once

#include <string>
#include <vector>

#include "vernier/core/study.h"

namespace vernier::cli {

// What is likely to be a mistake in a study that is valid, one sentence each, with what to write instead: it runs for ever;
// its program, or the script that it names, is not there on this host.
std::vector<std::string> WarningsOf(const StudySpec& spec);

}  // namespace vernier::cli
