#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

namespace vernier::cli {

// What may follow the words of one command, read off the parser, so that completion cannot fall behind it.
struct CompletionEntry {
  std::string path;                // "study create"; empty for the program itself.
  std::vector<std::string> words;  // Subcommands and options.
  bool takes_study = false;        // Its first argument is the name of a study.
};
std::vector<CompletionEntry> CompletionTable(const CLI::App& root);

// A script for "bash", "zsh" or "fish"; nothing for another shell.
std::optional<std::string> CompletionScript(std::string_view shell, const CLI::App& root);

}  // namespace vernier::cli
