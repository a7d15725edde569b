// First the texts of a role are collected with the fields in which the user wrote them (for error messages), then
// placeholders are substituted for a point. Checks use the same collection without a point, so that a study is refused
// when it is created and not when its first trial starts.

#include "src/jobs/replica_command.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

// A text of the job that may hold placeholders, and its field.
struct Source {
  std::string text;
  std::string path;
};

// The texts of one role, and the names of their placeholders.
struct RoleSources {
  std::vector<Source> command;
  std::map<std::string, Source> env;
  std::map<std::string, SecretSource> secrets;
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

// Command and arguments of a role, before substitution.
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
  for (const auto& [name, text] : job.env) {
    if (!replica.secrets.contains(name)) sources[name] = {text, "job.env." + name};
  }
  for (const auto& [name, text] : replica.env) {
    sources[name] = {text, RolePath(job, role) + ".env." + name};
  }
  return sources;
}

// The role's secrets override those of the job, and plain values of the job; a plain value of the role overrides a
// secret of the job.
std::map<std::string, SecretSource> SecretsOf(const TrainingJob& job, const ReplicaSpec& replica) {
  std::map<std::string, SecretSource> secrets = replica.secrets;
  for (const auto& [name, secret] : job.secrets) {
    if (!replica.env.contains(name)) secrets.emplace(name, secret);
  }
  return secrets;
}

RoleSources SourcesOf(const StudySpec& spec, Role role) {
  const TrainingJob& job = *spec.job;
  const ReplicaSpec& replica = job.replicas.at(role);
  RoleSources sources{.command = CommandSources(job, role, replica),
                      .env = EnvironmentSources(job, role, replica),
                      .secrets = SecretsOf(job, replica),
                      .placeholders = {}};
  if (!HasPlaceholders(spec)) return sources;
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

// Whether the command names its directory by `{job_dir}`.
bool NamesJobDirectory(const StudySpec& spec, const RoleSources& sources) {
  return sources.placeholders.contains(kJobDirectory) &&
         !spec.space.Find(kJobDirectory).has_value();
}

// How a replica gets a parameter that no placeholder names. A replica that reads the file of all parameters gets
// nothing else, unless the job asks for it.
ParameterArgument ArgumentFor(const TrainingJob& job, const Parameter& parameter, bool reads_file) {
  const bool is_by_default =
      !job.arguments.contains(parameter.name) && job.argument_style == ArgumentStyle::kOption;
  if (is_by_default && reads_file) return {.style = ArgumentStyle::kFile, .name = {}};
  return ArgumentOf(job, parameter);
}

// The text after substitution; nothing if it is left out.
std::optional<std::string> Filled(const Source& source, const PlaceholderValues& values) {
  return HasPlaceholders(values.spec) ? Substitute(source.text, values) : source.text;
}

void FillCommand(const PlaceholderValues& values,
                 const RoleSources& sources,
                 TrialNumber trial,
                 ReplicaCommand& result) {
  for (const Source& source : sources.command) {
    std::optional<std::string> text = Filled(source, values);
    // A text that became empty is left out; one that the user wrote as empty stays.
    if (!text.has_value() || (text->empty() && !source.text.empty())) continue;
    result.argv.push_back(*std::move(text));
  }
  std::string directory = JobDirectory(values.spec, trial);
  // Two arguments, as the service passed it.
  if (directory.empty() || NamesJobDirectory(values.spec, sources)) return;
  result.argv.emplace_back("--job-dir");
  result.argv.push_back(std::move(directory));
}

void FillEnvironment(const PlaceholderValues& values,
                     const std::map<std::string, Source>& sources,
                     ReplicaCommand& result) {
  for (const auto& [name, source] : sources) {
    std::optional<std::string> text = Filled(source, values);
    if (text.has_value()) result.env[name] = *std::move(text);
  }
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

// The roles with replicas, and their texts.
std::map<Role, RoleSources> SourcesOfRoles(const StudySpec& spec) {
  std::map<Role, RoleSources> roles;
  for (const auto& [role, replica] : spec.job->replicas) {
    if (replica.count > 0) roles[role] = SourcesOf(spec, role);
  }
  return roles;
}

absl::Status CheckRole(const StudySpec& spec, Role role) {
  const TrainingJob& job = *spec.job;
  if (!HasOwnCommand(job, job.replicas.at(role)) && !job.python.has_value() && job.image.empty()) {
    return FieldError(
        "job.command",
        fmt::format("must not be empty: replica '{}' has none of its own", RoleName(role, job)));
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
    if (sources.secrets.contains(variable)) {
      return FieldError(field, fmt::format("variable {} is a secret, too", variable));
    }
    const auto other = sources.env.find(variable);
    if (other == sources.env.end()) continue;
    return FieldError(field,
                      fmt::format("variable {} is set by {} too", variable, other->second.path));
  }
  return absl::OkStatus();
}

// Checks that the `arg` of a parameter has an effect.
absl::Status CheckEffect(const StudySpec& spec,
                         const Parameter& parameter,
                         const std::map<Role, RoleSources>& roles) {
  const TrainingJob& job = *spec.job;
  const ParameterArgument argument = ArgumentOf(job, parameter);
  const bool is_own = job.arguments.contains(parameter.name);
  const std::string field =
      is_own ? fmt::format("parameters.{}.arg", parameter.name) : "job.arguments";
  bool is_placed = true;  // Every role has a placeholder for it.
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

// Whether all values of the parameter are whole numbers, such as {discrete: [16, 32]}: programs expect a JSON integer
// then.
bool HasWholeValues(const std::string& name, const Space& space) {
  constexpr double kExact = 9007199254740992;  // 2^53: integers up to this are exact.
  const std::optional<int> index = space.Find(name);
  if (!index.has_value()) return false;
  const Domain& domain = space.parameters()[static_cast<std::size_t>(*index)].domain;
  const auto* const discrete = std::get_if<DiscreteDomain>(&domain);
  return discrete != nullptr && std::ranges::all_of(discrete->values, [](double value) {
           return value == std::floor(value) && std::abs(value) <= kExact;
         });
}

}  // namespace

absl::StatusOr<ReplicaCommand> CommandOf(const StudySpec& spec,
                                         const Trial& trial,
                                         Role role,
                                         std::string_view working_directory,
                                         std::string_view parameters_file) {
  const TrainingJob& job = *spec.job;
  const RoleSources sources = SourcesOf(spec, role);
  PlaceholderValues values{.spec = spec,
                           .point = trial.point,
                           .others = {{kParametersFile, std::string(parameters_file)},
                                      {kTrialNumber, std::to_string(trial.number.value())}}};
  if (!job.job_directory.empty()) values.others[kJobDirectory] = JobDirectory(spec, trial.number);
  ReplicaCommand result{.argv = {},
                        .env = {},
                        .directory = Below(Below(working_directory, job.working_directory),
                                           job.replicas.at(role).directory),
                        .reads_parameters_file = ReadsFile(spec, sources)};
  FillCommand(values, sources, trial.number, result);
  FillEnvironment(values, sources.env, result);
  result.secrets = sources.secrets;
  for (const Parameter& parameter : spec.space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    if (value == trial.point.end() || sources.placeholders.contains(parameter.name)) continue;
    Give(ArgumentFor(job, parameter, result.reads_parameters_file), value->second, result);
  }
  return result;
}

absl::Status CheckCommands(const StudySpec& spec) {
  const std::map<Role, RoleSources> roles = SourcesOfRoles(spec);
  for (const auto& [role, sources] : roles) {
    VERNIER_RETURN_IF_ERROR(CheckRole(spec, role));
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

std::string ParametersJson(const Point& point, const Space& space) {
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, value] : point) {
    const auto* const number = std::get_if<double>(&value);
    if (number != nullptr && HasWholeValues(name, space)) {
      document[name] = static_cast<std::int64_t>(*number);
    } else {
      std::visit([&, &key = name](const auto& held) { document[key] = held; }, value);
    }
  }
  // Invalid UTF-8 in a value must not make the whole document impossible.
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vernier::jobs
