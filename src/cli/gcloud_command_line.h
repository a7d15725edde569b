#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

// Command lines written for `gcloud`: `gcloud ai-platform jobs list`, `vernier ai-platform jobs list`.
namespace vernier::cli {

// A command line as the parser takes it.
struct CommandLine {
  std::vector<std::string> args;
  // "gcloud.ai-platform.jobs.list" for a command written for gcloud, which ends with gcloud's exit codes; otherwise
  // empty.
  std::string gcloud_command;
};

// Rewrites a command line of gcloud for the parser: removes the words before `jobs` and `local`, moves flags among the
// command's words behind them, replaces --flags-file by the flags in the file, --no-FLAG by --FLAG=false, and "--FLAG
// true" of a boolean flag by --FLAG=true. Other command lines, and all words after "--", stay as they are.
// InvalidArgument: a command of gcloud that is not offered, or a file of flags that cannot be read.
absl::StatusOr<CommandLine> ReadCommandLine(std::vector<std::string> args);

// The text of `vernier help gcloud`.
std::string GcloudHelp();

}  // namespace vernier::cli
