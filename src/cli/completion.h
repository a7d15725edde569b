#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

namespace vernier::cli {

// What may follow the words of one command, read off the parser, so that completion cannot fall behind it.
struct CompletionEntry {
  std::string path;  // "study/create"; empty for the program itself.
  std::vector<std::string> subcommands;
  std::vector<std::string> options;         // "-o", "--output": those of the program too.
  std::vector<std::string> valued_options;  // Of these, the ones that a value follows.
  bool takes_study = false;                 // Its first argument is the name of a study.
};
std::vector<CompletionEntry> CompletionTable(const CLI::App& root);

// A script for "bash", "zsh" or "fish"; nothing for another shell. All three offer subcommands, after "-" options, where a
// study is due the names of those in the store, and files for every other argument and for the value of an option.
std::optional<std::string> CompletionScript(std::string_view shell, const CLI::App& root);

}  // namespace vernier::cli
