// Flags common to all commands of gcloud. Flags that concern accounts, billing and requests are accepted without
// effect, since scripts pass them and there is nothing here that they could apply to.

#include "src/cli/gcloud_flags.h"

#include <utility>

#include "src/cli/gcloud/printer.h"
#include "src/cli/gcloud/records.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kIgnoredGroup[] = "Flags of gcloud that have no effect here";

void AddIgnoredFlags(CLI::App& command) {
  const auto value = [&](const char* name, const char* help) {
    command
        .add_option_function<std::string>(
            name, [](const std::string&) {}, help)
        ->group(kIgnoredGroup);
  };
  value("--account", "Account");
  value("--billing-project", "Project to charge");
  value("--configuration", "Named configuration");
  value("--impersonate-service-account", "Service account to act as");
  value("--access-token-file", "File with an access token");
  value("--trace-token", "Token for tracing");
  value("--verbosity", "Least severity of messages");
  const auto flag = [&](const char* name, const char* help) {
    command
        .add_flag_function(
            name, [](std::int64_t) {}, help)
        ->group(kIgnoredGroup);
  };
  flag("--log-http", "Log requests");
  flag("-q,--quiet", "Ask nothing; no command asks");
}

// The format with the command's default name and columns where the user gave none.
absl::StatusOr<gcloud::FormatSpec> WithDefaults(gcloud::FormatSpec format,
                                                std::string_view columns,
                                                std::string_view name) {
  const bool is_bare = format.name.empty() && format.columns.empty() && format.attributes.empty();
  if (is_bare) return format;
  // A projection without a name, as in "(jobId,state)", goes with the usual format.
  if (format.name.empty()) format.name = name;
  const bool needs_columns = format.name == "table" || format.name == "csv";
  if (!needs_columns || !format.columns.empty() || columns.empty()) return format;
  VERNIER_ASSIGN_OR_RETURN(gcloud::FormatSpec own, gcloud::ParseFormat("--format", columns));
  format.columns = std::move(own.columns);
  return format;
}

bool Print(const gcloud::FormatSpec& format,
           const std::vector<Json>& answers,
           bool is_list,
           Context& context) {
  if (format.name.empty()) return false;
  if (format.name == "none") return true;
  Output& output = context.output();
  const bool needs_columns = format.name == "table" || format.name == "csv";
  // A table or CSV without columns is the command's own, for which Vernier's output suffices.
  if (needs_columns && format.columns.empty()) {
    output.set_options({.format = ParseFormat(format.name).value_or(Format::kTable),
                        .headers = !format.Has("no-heading") && output.options().headers});
    return false;
  }
  gcloud::Print(format,
                answers,
                {.is_list = is_list, .headings = output.options().headers},
                {.now = context.Now(), .zone = context.zone()},
                context.console());
  return true;
}

}  // namespace

const std::vector<std::string_view>& BooleanFlags() {
  // For the reader of gcloud's command lines, which must know where the value of a flag ends.
  static const auto& flags = *new std::vector<std::string_view>{"--allow-multiline-logs",
                                                                "--async",
                                                                "--clear-labels",
                                                                "--distributed",
                                                                "--enable-web-access",
                                                                "--log-http",
                                                                "--quiet",
                                                                "--stream-logs",
                                                                "--summarize",
                                                                "--uri",
                                                                "--use-chief-in-tf-config",
                                                                "--user-output-enabled"};
  return flags;
}

const std::vector<std::string_view>& ValueFlags() {
  static const auto& flags = *new std::vector<std::string_view>{"--access-token-file",
                                                                "--account",
                                                                "--billing-project",
                                                                "--configuration",
                                                                "--flags-file",
                                                                "--flatten",
                                                                "--format",
                                                                "--impersonate-service-account",
                                                                "--project",
                                                                "--trace-token",
                                                                "--verbosity"};
  return flags;
}

void AddGcloudFlags(CLI::App& command, GcloudFlags& flags) {
  command
      .add_option("--project",
                  flags.project,
                  "Name space of jobs (default: $CLOUDSDK_CORE_PROJECT, else none)")
      ->envname("CLOUDSDK_CORE_PROJECT");
  command.add_option(
      "--format",
      flags.format,
      "Output format as in gcloud: json, yaml, csv, table, value, list, flattened, config or none, "
      "e.g. 'table[box](jobId,state:label=STATUS)', 'value(createTime.date())'");
  command.add_option(
      "--flatten",
      flags.flatten,
      "Print a record for each element of these lists, e.g. trainingOutput.trials[]");
  command.add_option_function<std::string>(
      "--flags-file", [](const std::string&) {}, "YAML file with more flags: '--region: us-east1'");
  command.add_flag("--user-output-enabled",
                   flags.user_output_enabled,
                   "Print the answer (default); --no-user-output-enabled prints nothing");
  AddIgnoredFlags(command);
  // gcloud: the last value of a repeated flag counts. Lists and positional arguments collect theirs.
  for (CLI::Option* option : command.get_options()) {
    const bool is_one = option->get_items_expected_max() == 1 && !option->get_positional();
    if (is_one) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

CLI::Option* AddListFlag(CLI::App& command,
                         const std::string& name,
                         std::vector<std::string>& list,
                         const std::string& help) {
  return command.add_option_function<std::string>(
      name,
      [name = name.substr(0, name.find(',')), &list](const std::string& text) {
        absl::StatusOr<std::vector<std::string>> items = gcloud::SplitList(name, text);
        // An exception is the parser's only way to refuse a value. It adds the flag's name itself, so the name, the
        // colon and the blank in front of the message are cut off.
        if (!items.ok()) {
          throw CLI::ValidationError(name,
                                     std::string(items.status().message()).substr(name.size() + 2));
        }
        list = *std::move(items);
      },
      help);
}

absl::StatusOr<AnswerFormat> ReadAnswerFormat(const GcloudFlags& flags,
                                              const gcloud::Aliases* aliases) {
  AnswerFormat answer;
  VERNIER_ASSIGN_OR_RETURN(answer.format, gcloud::ParseFormat("--format", flags.format, aliases));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                           gcloud::SplitList("--flatten", flags.flatten));
  VERNIER_ASSIGN_OR_RETURN(answer.flatten, gcloud::ParseFlatten("--flatten", keys));
  if (!flags.user_output_enabled) answer.format = {.name = "none"};
  return answer;
}

bool PrintAnswer(const AnswerFormat& answer_format, const Json& answer, Context& context) {
  // gcloud describes one resource in YAML by default, and lists in a table.
  const auto format = WithDefaults(answer_format.format, "", "yaml");
  if (!format.ok()) return false;
  if (answer_format.flatten.empty()) return Print(*format, {answer}, /*is_list=*/false, context);
  gcloud::FormatSpec listed = *format;
  if (listed.name.empty()) listed.name = "yaml";
  return Print(listed,
               gcloud::Flatten(answer_format.flatten, {answer}),
               /*is_list=*/true,
               context);
}

bool PrintAnswers(const AnswerFormat& answer_format,
                  std::string_view columns,
                  const std::vector<Json>& answers,
                  Context& context) {
  const auto format = WithDefaults(answer_format.format, columns, "table");
  return format.ok() && Print(*format, answers, /*is_list=*/true, context);
}

}  // namespace vernier::cli
