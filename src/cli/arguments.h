#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/app/usage.h"
#include "src/cli/context.h"
#include "src/cli/resources.h"
#include "vernier/core/severity.h"

// Options and validators that several commands share.
namespace vernier::cli {

// Adds a command whose arguments are a struct of type Args; `run` gets them if the command line names it. The caller
// declares the options: auto [command, args] = AddCommand<CreateArgs>(study, "create", "…", &Create, chosen).
template <typename Args>
std::pair<CLI::App*, Args*> AddCommand(CLI::App& group,
                                       const char* verb,
                                       const char* help,
                                       absl::StatusOr<ExitCode> (*run)(Context&, const Args&),
                                       Action& chosen) {
  CLI::App* command = group.add_subcommand(verb, help);
  const auto args = std::make_shared<Args>();  // CLI11 writes it, the action reads it.
  command->callback([args, run, &chosen] {
    chosen = [args, run](Context& context) { return run(context, *args); };
  });
  return {command, args.get()};
}

struct NoArgs {};
// A study by name.
struct StudyArgs {
  std::string study;
};
// A trial of a study.
struct TrialArgs {
  std::string study;
  std::string trial;  // Number, "best" or "last".
};

void AddStudyOption(CLI::App& command, std::string& study);
void AddTrialOptions(CLI::App& command, std::string& study, std::string& trial);
// --filter, --sort, --limit.
void AddQueryOptions(CLI::App& command, const char* filter, const char* sort, Query& query);

// Validators with error messages in the form of this program: "--limit: must be a whole number of at least 1, got 'x'".
CLI::Validator AtLeast(std::int64_t least);
CLI::Validator Port();  // 1024 to 65535: ports that need no privileges.
using app::AboveZero;
using app::OneOf;

// "90s", "2h".  InvalidArgument: names the option.
absl::StatusOr<absl::Duration> ParseDurationFlag(std::string_view option, const std::string& text);
// A time: a duration before now ("10m"), a time of today ("01:29", "01:29:30"), or a date in ISO 8601 with or without a
// time ("2026-11-21"). Times without a zone are in `zone`.  InvalidArgument: names the option.
absl::StatusOr<absl::Time> ParseTimeFlag(std::string_view option,
                                         const std::string& text,
                                         absl::Time now,
                                         absl::TimeZone zone);
// "warning".  InvalidArgument: names the option, and lists the severities.
absl::StatusOr<Severity> ParseSeverityFlag(std::string_view option, const std::string& text);
// A finite number above 0.  InvalidArgument: names the option.
absl::StatusOr<double> ParseNumberFlag(std::string_view option, const std::string& text);
// A whole number of at least 1.  InvalidArgument: names the option.
absl::StatusOr<std::int64_t> ParseCountFlag(std::string_view option, const std::string& text);
// "512MiB", "16GiB", "1.5GB" or plain bytes.  InvalidArgument: names the option.
absl::StatusOr<std::int64_t> ParseBytesFlag(std::string_view option, const std::string& text);

}  // namespace vernier::cli
