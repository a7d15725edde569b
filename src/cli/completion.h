#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

namespace vernier::cli {

// Completions for one command. Read from the parser, so that they always match the real options.
struct CompletionEntry {
  std::string path;  // "study/create"; empty for the program itself.
  std::vector<std::string> subcommands;
  std::vector<std::string> options;         // "-o", "--output"; global ones included.
  std::vector<std::string> valued_options;  // The subset that takes a value.
  bool takes_study = false;                 // Its first argument is the name of a study.
};
std::vector<CompletionEntry> CompletionTable(const CLI::App& root);

// The completion script for "bash", "zsh" or "fish"; nothing for another shell. All three complete subcommands, options
// after "-", names of stored studies where a command takes a study, and files for every other argument and for option
// values.
std::optional<std::string> CompletionScript(std::string_view shell, const CLI::App& root);

}  // namespace vernier::cli
