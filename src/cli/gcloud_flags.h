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

// Adds them, and lets a flag of the command that is repeated take its last value: call it after the command's own.
void AddGcloudFlags(CLI::App& command, GcloudFlags& flags);

// A flag whose value is a list, "a,b" or "^:^a:b".
CLI::Option* AddListFlag(CLI::App& command,
                         const std::string& name,
                         std::vector<std::string>& list,
                         const std::string& help);

// The names of flags of `gcloud ai-platform` that are true or false, and of those that every command takes with a value.
const std::vector<std::string_view>& BooleanFlags();
const std::vector<std::string_view>& ValueFlags();

// What --format, --flatten and --user-output-enabled ask for.
struct AnswerFormat {
  gcloud::FormatSpec format;
  std::vector<gcloud::Key> flatten;
};

// `aliases`: other names of the keys.  InvalidArgument: names the flag.
absl::StatusOr<AnswerFormat> ReadAnswerFormat(const GcloudFlags& flags,
                                              const gcloud::Aliases* aliases = nullptr);

// Prints `answer`, one resource, if the format says how. Else only sets the format of the output and returns false: the
// command prints as it always does.
bool PrintAnswer(const AnswerFormat& answer_format,
                 const nlohmann::ordered_json& answer,
                 Context& context);
// The same of a list that was flattened before; `columns` are those that a table has of itself.
bool PrintAnswers(const AnswerFormat& answer_format,
                  std::string_view columns,
                  const std::vector<nlohmann::ordered_json>& answers,
                  Context& context);

}  // namespace vernier::cli
