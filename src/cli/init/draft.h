#pragma once

#include <string>
#include <vector>

#include "src/cli/init/help_text.h"
#include "src/cli/init/source_metrics.h"

// A study file drafted from what a program says of its options.
namespace vernier::cli {

struct DraftInput {
  std::string study;                 // Its name.
  std::vector<std::string> command;  // As the user gave it: options in it are settled.
  std::string working_directory;     // For `working_dir`; empty: where the file will be.
  HelpText help;
  std::vector<SourceMetric> metrics;  // Found in the source, best first.
};

struct Draft {
  std::string yaml;
  // What was guessed, for people: names of parameters, and of options by what
  // became of them.
  std::vector<std::string> tuned;
  std::vector<std::string> offered;   // In the file as comments: numbers that may be worth tuning.
  std::vector<std::string> fixed;     // Arguments such as "--epochs=10".
  std::vector<std::string> left_out;  // What is no hyperparameter.
  std::vector<std::string> to_check;  // Sentences.
};

// A draft with no tuned parameter if nothing looks like one.
Draft MakeDraft(const DraftInput& input);

}  // namespace vernier::cli
