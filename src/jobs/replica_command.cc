#include "src/jobs/replica_command.h"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/core/parameter_argument.h"
#include "src/jobs/environment.h"
#include "src/jobs/layout.h"
#include "src/jobs/placeholders.h"
#include "vernier/core/error.h"

namespace vernier::jobs {
namespace {

// A text of the job that may hold placeholders, and where the user wrote it.
struct Source {
  std::string text;
  std::string path;
};

// The texts of one role, and the placeholders in them.
struct RoleSources {
  std::vector<Source> command;
  std::map<std::string, Source> env;
  std::set<std::string> placeholders;
};

std::string RolePath(const TrainingJob& job, Role role) {
  return "job.replicas." + RoleName(role, job);
}

void Append(const std::vector<std::string>& texts,
            const std::string& path,
            std::vector<Source>& sources) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    sources.push_back({texts[i], fmt::format("{}[{}]", path, i)});
  }
}

// Command and arguments of a role, as the user wrote them.
std::vector<Source> CommandSources(const TrainingJob& job, Role role, const ReplicaSpec& replica) {
  std::vector<Source> sources;
  if (!replica.command.empty()) {
    Append(replica.command, RolePath(job, role) + ".command", sources);
  } else if (job.python.has_value()) {
    Append({"python3", "-m", job.python->module}, "job.python", sources);
  } else {
    Append(job.command, "job.command", sources);
  }
  Append(job.args, "job.args", sources);
  Append(replica.args, RolePath(job, role) + ".args", sources);
  return sources;
}

std::map<std::string, Source> EnvironmentSources(const TrainingJob& job,
                                                 Role role,
                                                 const ReplicaSpec& replica) {
  std::map<std::string, Source> sources;
  for (const auto& [name, text] : job.env) sources[name] = {text, "job.env." + name};
  for (const auto& [name, text] : replica.env) {
    sources[name] = {text, RolePath(job, role) + ".env." + name};
  }
  return sources;
}

RoleSources SourcesOf(const TrainingJob& job, Role role) {
  const ReplicaSpec& replica = job.replicas.at(role);
  RoleSources sources{.command = CommandSources(job, role, replica),
                      .env = EnvironmentSources(job, role, replica),
                      .placeholders = {}};
  for (const Source& source : sources.command) {
    sources.placeholders.merge(PlaceholderNames(source.text));
  }
  for (const auto& [name, source] : sources.env) {
    sources.placeholders.merge(PlaceholderNames(source.text));
  }
  return sources;
}

bool ReadsFile(const StudySpec& spec, const RoleSources& sources) {
  return sources.placeholders.contains(kParametersFile) &&
         !spec.space.Find(kParametersFile).has_value();
}

// How a replica is given the parameter, beside placeholders. One that reads the file of all parameters needs nothing else,
// unless the job asks for it.
ParameterArgument ArgumentFor(const TrainingJob& job, const Parameter& parameter, bool reads_file) {
  const bool is_by_default =
      !job.arguments.contains(parameter.name) && job.argument_style == ArgumentStyle::kOption;
  if (is_by_default && reads_file) return {.style = ArgumentStyle::kFile, .name = {}};
  return ArgumentOf(job, parameter);
}

absl::Status FillCommand(const PlaceholderValues& values,
                         const std::vector<Source>& sources,
                         TrialNumber trial,
                         ReplicaCommand& result) {
  for (const Source& source : sources) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<std::string> text,
                             Substitute(source.text, values, source.path));
    // What became empty says nothing; what the user wrote as empty stays.
    if (!text.has_value() || (text->empty() && !source.text.empty())) continue;
    result.argv.push_back(*std::move(text));
  }
  if (std::string directory = JobDirectory(values.spec, trial); !directory.empty()) {
    result.argv.emplace_back("--job-dir");
    result.argv.push_back(std::move(directory));
  }
  return absl::OkStatus();
}

absl::Status FillEnvironment(const PlaceholderValues& values,
                             const std::map<std::string, Source>& sources,
                             ReplicaCommand& result) {
  for (const auto& [name, source] : sources) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<std::string> text,
                             Substitute(source.text, values, source.path));
    if (text.has_value()) result.env[name] = *std::move(text);
  }
  return absl::OkStatus();
}

void Give(const ParameterArgument& argument, const ParameterValue& value, ReplicaCommand& result) {
  const std::string text = FormatValue(value);
  switch (argument.style) {
    case ArgumentStyle::kOption:
    case ArgumentStyle::kAssignment:
      result.argv.push_back(fmt::format("{}={}", argument.name, text));
      break;
    case ArgumentStyle::kSeparate:
      result.argv.push_back(argument.name);
      result.argv.push_back(text);
      break;
    case ArgumentStyle::kFlag:
    case ArgumentStyle::kAbsentFlag:
      if (const auto flag = FlagFor(argument, value); flag.has_value() && !flag->empty()) {
        result.argv.push_back(*flag);
      }
      break;
    case ArgumentStyle::kPositional:
      if (!text.empty()) result.argv.push_back(text);
      break;
    case ArgumentStyle::kVariable:
      result.env[argument.name] = text;
      break;
    case ArgumentStyle::kFile:
      break;
  }
}

// The roles that have replicas, with their texts.
std::map<Role, RoleSources> SourcesOfRoles(const TrainingJob& job) {
  std::map<Role, RoleSources> roles;
  for (const auto& [role, replica] : job.replicas) {
    if (replica.count > 0) roles[role] = SourcesOf(job, role);
  }
  return roles;
}

absl::Status CheckRole(const StudySpec& spec, Role role, const RoleSources& sources) {
  const TrainingJob& job = *spec.job;
  if (!HasOwnCommand(job, job.replicas.at(role)) && !job.python.has_value() && job.image.empty()) {
    return FieldError(
        "job.command",
        fmt::format("must not be empty: replica '{}' has none of its own", RoleName(role, job)));
  }
  for (const Source& source : sources.command) {
    VERNIER_RETURN_IF_ERROR(CheckPlaceholders(source.text, spec, source.path));
  }
  for (const auto& [name, source] : sources.env) {
    VERNIER_RETURN_IF_ERROR(CheckPlaceholders(source.text, spec, source.path));
  }
  return absl::OkStatus();
}

absl::Status CheckVariable(const std::string& field,
                           const std::string& variable,
                           const std::map<Role, RoleSources>& roles) {
  if (IsServiceVariable(variable)) {
    return FieldError(field,
                      fmt::format("variable {} is set by Vernier itself; another one is given as "
                                  "`arg: env:NAME`",
                                  variable));
  }
  for (const auto& [role, sources] : roles) {
    const auto other = sources.env.find(variable);
    if (other == sources.env.end()) continue;
    return FieldError(field,
                      fmt::format("variable {} is set by {} too", variable, other->second.path));
  }
  return absl::OkStatus();
}

// That what the study says of a parameter's argument comes to something.
absl::Status CheckEffect(const StudySpec& spec,
                         const Parameter& parameter,
                         const std::map<Role, RoleSources>& roles) {
  const TrainingJob& job = *spec.job;
  const ParameterArgument argument = ArgumentOf(job, parameter);
  const bool is_own = job.arguments.contains(parameter.name);
  const std::string field =
      is_own ? fmt::format("parameters.{}.arg", parameter.name) : "job.arguments";
  bool is_placed = true;  // By a placeholder of every role.
  bool is_in_file = false;
  for (const auto& [role, sources] : roles) {
    is_placed = is_placed && sources.placeholders.contains(parameter.name);
    is_in_file = is_in_file || ReadsFile(spec, sources);
  }
  const bool is_flag =
      argument.style == ArgumentStyle::kFlag || argument.style == ArgumentStyle::kAbsentFlag;
  if (is_own && is_placed && !is_flag) {
    return FieldError(
        field,
        fmt::format("has no effect: '{{{}}}' of the command is in its place", parameter.name));
  }
  if (is_placed) return absl::OkStatus();
  if (argument.style == ArgumentStyle::kVariable) return CheckVariable(field, argument.name, roles);
  if (argument.style != ArgumentStyle::kFile || is_in_file) return absl::OkStatus();
  return FieldError(field,
                    fmt::format("the program would not be given parameter '{}': put "
                                "'{{parameters.json}}', the file's path, into the command",
                                parameter.name));
}

}  // namespace

absl::StatusOr<ReplicaCommand> CommandOf(const StudySpec& spec,
                                         const Trial& trial,
                                         Role role,
                                         std::string_view working_directory,
                                         std::string_view parameters_file) {
  const TrainingJob& job = *spec.job;
  const RoleSources sources = SourcesOf(job, role);
  const PlaceholderValues values{
      .spec = spec, .point = trial.point, .parameters_file = std::string(parameters_file)};
  ReplicaCommand result{.argv = {},
                        .env = {},
                        .directory = Below(Below(working_directory, job.working_directory),
                                           job.replicas.at(role).directory),
                        .reads_parameters_file = ReadsFile(spec, sources)};
  VERNIER_RETURN_IF_ERROR(FillCommand(values, sources.command, trial.number, result));
  VERNIER_RETURN_IF_ERROR(FillEnvironment(values, sources.env, result));
  for (const Parameter& parameter : spec.space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    if (value == trial.point.end() || sources.placeholders.contains(parameter.name)) continue;
    Give(ArgumentFor(job, parameter, result.reads_parameters_file), value->second, result);
  }
  return result;
}

absl::Status CheckCommands(const StudySpec& spec) {
  const std::map<Role, RoleSources> roles = SourcesOfRoles(*spec.job);
  for (const auto& [role, sources] : roles) {
    VERNIER_RETURN_IF_ERROR(CheckRole(spec, role, sources));
  }
  for (const Parameter& parameter : spec.space.parameters()) {
    VERNIER_RETURN_IF_ERROR(CheckEffect(spec, parameter, roles));
  }
  return absl::OkStatus();
}

bool HasOwnCommand(const TrainingJob& job, const ReplicaSpec& replica) {
  return !replica.command.empty() || !job.command.empty();
}

std::string Below(std::string_view base, std::string_view path) {
  if (path.empty()) return std::string(base);
  if (path.front() == '/') return std::string(path);
  return fmt::format("{}/{}", base, path);
}

std::string ParametersJson(const Point& point) {
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, value] : point) {
    std::visit([&, &key = name](const auto& held) { document[key] = held; }, value);
  }
  // Text that is no UTF-8 must not make the whole document impossible.
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vernier::jobs
