#include "src/jobs/reproduction.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/jobs/replica_command.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

constexpr std::string_view kMetricFile = "CLOUD_ML_HP_METRIC_FILE";

// Characters without a meaning for a POSIX shell, wherever they stand in a word.
bool IsPlainForShell(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

std::vector<std::string> Quoted(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back(ShellQuote(word));
  return quoted;
}

// NAME="$(cat FILE)" for each secret, with a space after it: the command must not contain the value.
std::string SecretAssignments(const std::map<std::string, SecretSource>& secrets) {
  std::string text;
  for (const auto& [name, secret] : secrets) {
    const std::string file =
        secret.name.empty() ? secret.from_file : "~/.config/vernier/secrets/" + secret.name;
    const bool is_at_home = file.starts_with("~/");  // A shell expands "~/" only unquoted.
    text += fmt::format("{}=\"$(cat {}{})\" ",
                        name,
                        is_at_home ? "~/" : "",
                        ShellQuote(is_at_home ? file.substr(2) : file));
  }
  return text;
}

// "cd DIR && exec env NAME=value … program …", to be run in a subshell.
std::string SubshellCommand(const ReplicaProgram& replica) {
  std::string command = fmt::format("cd {} && exec env", ShellQuote(replica.directory));
  for (const auto& [name, value] : replica.env) {
    // Without the metric file nothing of the recorded trial is overwritten.
    if (name != kMetricFile) command += fmt::format(" {}={}", name, ShellQuote(value));
  }
  return fmt::format(
      "{} {}{}", command, SecretAssignments(replica.secrets), fmt::join(Quoted(replica.argv), " "));
}

}  // namespace

std::string ShellQuote(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsPlainForShell)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string ShellCommand(const GangProgram& gang) {
  if (gang.replicas.size() == 1) return fmt::format("({})", SubshellCommand(gang.replicas.front()));
  // Each replica runs in a subshell with exec, so that killing it kills the program; the trap ends the peers with the
  // primary.
  std::string command = "(peers=; trap 'kill $peers 2>/dev/null' EXIT\n";
  for (std::size_t i = 1; i < gang.replicas.size(); ++i) {
    command += fmt::format("({}) & peers=\"$peers $!\"\n", SubshellCommand(gang.replicas[i]));
  }
  return command + fmt::format("({}))", SubshellCommand(gang.replicas.front()));
}

absl::StatusOr<std::string> PrimaryCommand(const StudySpec& spec, const Trial& trial) {
  constexpr std::string_view kHere = ".";
  const std::string file = fmt::format("trial-{}.json", trial.number.value());
  VERNIER_ASSIGN_OR_RETURN(const ReplicaCommand replica,
                           CommandOf(spec, trial, Role::kPrimary, kHere, file));
  std::string text;
  if (!replica.directory.empty() && replica.directory != kHere) {
    text += fmt::format("cd {} && ", ShellQuote(replica.directory));
  }
  if (replica.reads_parameters_file) {
    text += fmt::format(
        "printf %s {} > {} && ", ShellQuote(ParametersJson(trial.point, spec.space)), file);
  }
  for (const auto& [name, value] : replica.env) {
    text += fmt::format("{}={} ", name, ShellQuote(value));
  }
  text += SecretAssignments(replica.secrets);
  return text + fmt::format("{}", fmt::join(Quoted(replica.argv), " "));
}

}  // namespace vernier::jobs
