#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"

// Shared by the command lines of vernier and vernierd: the format of --help, and error messages as sentences.
namespace vernier::app {

// Formats --help in at most 80 columns. `common` ends the help of every command but the first: the options that all
// commands take.
std::shared_ptr<CLI::FormatterBase> NewHelpFormatter(std::string common = "");

// Breaks the text at blanks into lines of at most 80 columns; lines after the first are indented by `indent` blanks.
std::string WrapHelp(std::string_view text, std::size_t indent);

// Parses the arguments of a program, its name excluded. Unlike CLI11, which takes the next word for the value of `--store=`, it
// refuses an option without a value.  Throws CLI::ParseError.
void Parse(CLI::App& root, const std::vector<std::string>& args);

// Why a command line is invalid, what to do about it, and the command that was recognised.
struct UsageError {
  std::string sentence;
  std::string hint;
  std::string command;  // "vernier trial list".
};
UsageError ExplainUsage(const CLI::ParseError& error, const CLI::App& root);

// Validators whose errors are sentences: "--cpus: must be a number above 0, got 'x'".
CLI::Validator AboveZero();
CLI::Validator OneOf(const std::vector<std::string>& words);
CLI::Validator AFile();  // Any name but an empty one.

}  // namespace vernier::app
