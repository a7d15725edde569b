#pragma once

#include <string>
#include <vector>

#include "src/cli/init/help_text.h"
#include "src/cli/init/source_metrics.h"

// Input for drafting a study file from what a program says about its options.
namespace vernier::cli {

struct DraftInput {
  std::string study;                 // The study's name.
  std::vector<std::string> command;  // As given by the user; options in it are not tuned.
  std::string working_directory;     // For `working_dir`; empty: the file's folder.
  HelpText help;
  std::vector<SourceMetric> metrics;  // Found in the source, best first.
};

struct Draft {
  std::string yaml;
  // What was guessed, for the user: names of parameters, and options by their treatment.
  std::vector<std::string> tuned;
  std::vector<std::string> offered;   // Numbers that may be worth tuning, in the file as comments.
  std::vector<std::string> fixed;     // Arguments such as "--epochs=10".
  std::vector<std::string> left_out;  // Options that are not hyperparameters.
  std::vector<std::string> to_check;  // Sentences on what to check.
};

// Drafts the file. Without tuned parameters if no option looks like a hyperparameter.
Draft MakeDraft(const DraftInput& input);

}  // namespace vernier::cli
