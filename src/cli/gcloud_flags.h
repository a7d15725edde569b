#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/cli/context.h"
#include "src/cli/gcloud/format.h"
#include "src/cli/gcloud/key.h"

// The flags that every command of `gcloud` takes.
namespace vernier::cli {

struct GcloudFlags {
  std::string project;
  std::string format;
  std::string flatten;
  bool user_output_enabled = true;
};

// Adds the flags, and lets the last value of a repeated flag win, as gcloud does. Call it after the command has
// declared its own flags, which it changes as well.
void AddGcloudFlags(CLI::App& command, GcloudFlags& flags);

// A flag whose value is a list, "a,b" or "^:^a:b".
CLI::Option* AddListFlag(CLI::App& command,
                         const std::string& name,
                         std::vector<std::string>& list,
                         const std::string& help);

// Names of boolean flags of `gcloud ai-platform`, and of flags with a value that every command takes.
const std::vector<std::string_view>& BooleanFlags();
const std::vector<std::string_view>& ValueFlags();

// The parsed --format, --flatten and --user-output-enabled.
struct AnswerFormat {
  gcloud::FormatSpec format;
  std::vector<gcloud::Key> flatten;
};

// `aliases`: other names of the keys.  InvalidArgument: names the flag.
absl::StatusOr<AnswerFormat> ReadAnswerFormat(const GcloudFlags& flags,
                                              const gcloud::Aliases* aliases = nullptr);

// Prints `answer`, one resource, if the format determines how. Otherwise only sets the output's format and returns
// false: the command then prints in its own way.
bool PrintAnswer(const AnswerFormat& answer_format,
                 const nlohmann::ordered_json& answer,
                 Context& context);
// The same for a list that is already flattened; `columns` are the columns of its default table.
bool PrintAnswers(const AnswerFormat& answer_format,
                  std::string_view columns,
                  const std::vector<nlohmann::ordered_json>& answers,
                  Context& context);

}  // namespace vernier::cli
