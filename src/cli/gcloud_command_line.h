#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

// Command lines that were written for `gcloud`: `gcloud ai-platform jobs list`, `vernier ai-platform jobs list`.
namespace vernier::cli {

// A command line as the parser takes it.
struct CommandLine {
  std::vector<std::string> args;
  // "gcloud.ai-platform.jobs.list" of one that was written for gcloud: it ends with gcloud's exit statuses.
  std::string gcloud_command;
};

// Takes off the words before `jobs` and `local`, puts the flags among them after them, replaces --flags-file by the flags
// in it, --no-FLAG by --FLAG=false, and "--FLAG true" of a flag that is true or false by --FLAG=true. A command line of
// another command stays as it is, and so does what stands after "--".
// InvalidArgument: a command of gcloud that is not offered, or a file of flags that cannot be read.
absl::StatusOr<CommandLine> ReadCommandLine(std::vector<std::string> args);

// Which commands are offered, for `vernier help gcloud`.
std::string GcloudHelp();

}  // namespace vernier::cli
