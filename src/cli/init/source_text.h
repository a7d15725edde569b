#pragma once

#include <string_view>

#include "src/cli/init/help_text.h"

// What the Python source of a program tells beside its help.
namespace vernier::cli {

// Adds types, defaults and choices of options that the source defines with argparse, click or absl, where the help is
// silent.
void AddFromSource(std::string_view source, HelpText& help);

}  // namespace vernier::cli
