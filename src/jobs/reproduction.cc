#include "src/jobs/reproduction.h"

#include <algorithm>
#include <cctype>

#include "fmt/format.h"

namespace vernier::jobs {
namespace {

constexpr std::string_view kMetricFile = "CLOUD_ML_HP_METRIC_FILE";

bool IsPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

// "cd DIR && NAME=value … exec program …", to be run in a subshell.
std::string ReplicaCommand(const ReplicaProgram& replica) {
  std::string command = fmt::format("cd {} && exec env", ShellQuote(replica.directory));
  for (const auto& [name, value] : replica.env) {
    if (name != kMetricFile) command += fmt::format(" {}={}", name, ShellQuote(value));
  }
  for (const std::string& argument : replica.argv) command += " " + ShellQuote(argument);
  return command;
}

}  // namespace

std::string ShellQuote(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsPlain)) return std::string(text);
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
  if (gang.replicas.size() == 1) return fmt::format("({})", ReplicaCommand(gang.replicas.front()));
  std::string command = "(peers=; trap 'kill $peers 2>/dev/null' EXIT\n";
  for (std::size_t i = 1; i < gang.replicas.size(); ++i) {
    command += fmt::format("({}) & peers=\"$peers $!\"\n", ReplicaCommand(gang.replicas[i]));
  }
  return command + fmt::format("({}))", ReplicaCommand(gang.replicas.front()));
}

}  // namespace vernier::jobs
