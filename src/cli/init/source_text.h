#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/cli/init/help_text.h"

// What the Python source of a program tells beside its help.
namespace vernier::cli {

// Types, defaults and choices of options that the source defines with argparse,
// click or absl, where the help was silent.
void AddFromSource(std::string_view source, HelpText& help);

// Names of metrics in the texts that the source prints, best first: those of
// validation before those of training.
std::vector<std::string> MetricsIn(std::string_view source);

// Whether more of the metric is better, by its name: accuracy is, loss is not.
bool IsMaximized(std::string_view metric);

}  // namespace vernier::cli
