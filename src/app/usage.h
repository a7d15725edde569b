#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

// What the command lines of vernier and vernierd share: the look of --help, and sentences instead of a parser's words.
namespace vernier::app {

// A --help of at most 80 columns. `common` ends the help of every command but the first, for the options that all take.
std::shared_ptr<CLI::FormatterBase> NewHelpFormatter(std::string common = "");

// The text in lines of at most 80 columns, broken at blanks; lines after the first begin with `indent` blanks.
std::string WrapHelp(std::string_view text, std::size_t indent);

// Why a command line cannot be read, what to do about it, and the command that was read so far.
struct UsageError {
  std::string sentence;
  std::string hint;
  std::string command;  // "vernier trial list".
};
UsageError ExplainUsage(const CLI::ParseError& error, const CLI::App& root);

// Validators whose errors are sentences: "--cpus: must be a number above 0, got 'x'".
CLI::Validator AboveZero();
CLI::Validator OneOf(const std::vector<std::string>& words);

}  // namespace vernier::app
