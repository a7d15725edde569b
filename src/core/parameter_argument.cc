#include "src/core/parameter_argument.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/core/nearest.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

bool IsWordStart(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool IsWordPart(char c) { return IsWordStart(c) || (c >= '0' && c <= '9'); }
bool IsOptionPart(char c) { return IsWordPart(c) || c == '-' || c == '.'; }
char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool IsFlag(ArgumentStyle style) {
  return style == ArgumentStyle::kFlag || style == ArgumentStyle::kAbsentFlag;
}
bool HasName(ArgumentStyle style) {
  return style != ArgumentStyle::kPositional && style != ArgumentStyle::kFile;
}

// "learning-rate" as a variable: "LEARNING_RATE".
std::string VariableName(std::string_view parameter) {
  std::string name;
  for (const char c : parameter) name += IsWordPart(c) ? ToUpper(c) : '_';
  return name;
}

std::string NameFor(ArgumentStyle style, const std::string& parameter) {
  switch (style) {
    case ArgumentStyle::kOption:
    case ArgumentStyle::kSeparate:
    case ArgumentStyle::kFlag:
      return "--" + parameter;
    case ArgumentStyle::kAbsentFlag:
      return "--no-" + parameter;
    case ArgumentStyle::kAssignment:
      return parameter;
    case ArgumentStyle::kVariable:
      return VariableName(parameter);
    case ArgumentStyle::kPositional:
    case ArgumentStyle::kFile:
      break;
  }
  return "";
}

// The field of the study file that sets the form.
std::string FieldOf(const std::string& parameter, ArgumentStyle style) {
  return fmt::format("parameters.{}.{}", parameter, IsFlag(style) ? "bool.flag" : "arg");
}

// Whether an option, an assignment or a variable may have this name.
bool CanBeCalled(ArgumentStyle style, std::string_view name) {
  if (style == ArgumentStyle::kVariable) {
    return !name.empty() && IsWordStart(name.front()) && std::ranges::all_of(name, IsWordPart);
  }
  // The name must be a word of the command line, and without '=', where it would end.
  const bool is_word =
      std::ranges::all_of(name, [](char c) { return c > ' ' && c != '\x7f' && c != '='; });
  if (!is_word || style == ArgumentStyle::kAssignment) return is_word && !name.empty();
  return name.starts_with('-') && name.find_first_not_of('-') != std::string_view::npos;
}

std::string_view NameRule(ArgumentStyle style) {
  if (style == ArgumentStyle::kVariable) {
    return "a variable's name must match ^[A-Za-z_][A-Za-z0-9_]*$";
  }
  if (style == ArgumentStyle::kAssignment) {
    return "must be a word without =";
  }
  return "must be an option such as --lr, without = and spaces";
}

absl::Status CheckOwnName(const std::string& field, const ParameterArgument& given) {
  if (given.name.empty()) return absl::OkStatus();
  if (!HasName(given.style)) return FieldError(field, "takes no name: the program sees none");
  if (CanBeCalled(given.style, given.name)) return absl::OkStatus();
  return FieldError(field, fmt::format("{}, got '{}'", NameRule(given.style), given.name));
}

// Checks a name that is derived from the parameter's. `index`: the index of the parameter in the space.
absl::Status CheckMadeName(const TrainingJob& job,
                           std::size_t index,
                           const std::string& parameter,
                           ArgumentStyle style) {
  if (!HasName(style)) return absl::OkStatus();
  // Variables: every other character becomes an underscore, so that only the first one can be
  // wrong. Names of parameters are never empty.
  const bool sound =
      style == ArgumentStyle::kVariable
          ? CanBeCalled(style, VariableName(parameter))
          : IsWordStart(parameter.front()) && std::ranges::all_of(parameter, IsOptionPart);
  if (sound) return absl::OkStatus();
  return FieldError(
      fmt::format("parameters[{}].name", index),
      fmt::format(
          "the program is given it by this name, which must match {}, got '{}'{}",
          style == ArgumentStyle::kVariable ? "^[A-Za-z_].*$" : "^[A-Za-z_][A-Za-z0-9_.-]*$",
          parameter,
          job.input.has_value() ? "" : "; `arg` gives the program another, as in `arg: --lr`"));
}

absl::Status CheckKnown(const StudySpec& spec) {
  std::vector<std::string> names;
  for (const Parameter& parameter : spec.space.parameters()) names.push_back(parameter.name);
  for (const auto& [name, argument] : spec.job->arguments) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return FieldError(fmt::format("job.arguments.{}", name),
                      "no such parameter" + NearestHint(name, names));
  }
  return absl::OkStatus();
}

absl::Status CheckStyle(const Parameter& parameter, ArgumentStyle style) {
  if (!IsFlag(style) || std::holds_alternative<BoolDomain>(parameter.domain)) {
    return absl::OkStatus();
  }
  return FieldError(FieldOf(parameter.name, style),
                    "only a boolean parameter can be a flag that is there or not");
}

}  // namespace

ParameterArgument ArgumentOf(const TrainingJob& job, const Parameter& parameter) {
  ParameterArgument argument{.style = job.argument_style, .name = {}};
  if (const auto own = job.arguments.find(parameter.name); own != job.arguments.end()) {
    argument = own->second;
  }
  if (argument.name.empty()) argument.name = NameFor(argument.style, parameter.name);
  return argument;
}

bool IsNegativeFlag(const std::string& flag, const std::string& parameter) {
  const auto is_negative = [](std::string_view name) {
    return name.starts_with("no-") || name.starts_with("no_");
  };
  return flag.starts_with("--") && is_negative(std::string_view(flag).substr(2)) &&
         !is_negative(parameter);
}

absl::Status CheckArguments(const StudySpec& spec) {
  const TrainingJob& job = *spec.job;
  // A flag can tell only true from false.
  if (IsFlag(job.argument_style)) {
    return FieldError("job.arguments", "a flag is no style of all parameters, only of one");
  }
  VERNIER_RETURN_IF_ERROR(CheckKnown(spec));
  // The parameter that has a name already. Variables and options have separate names. Empty: job.dir.
  std::map<std::pair<bool, std::string>, std::string> taken;
  if (!job.job_directory.empty()) taken[{false, "--job-dir"}] = "";
  for (std::size_t i = 0; i < spec.space.parameters().size(); ++i) {
    const Parameter& parameter = spec.space.parameters()[i];
    const ParameterArgument argument = ArgumentOf(job, parameter);
    const std::string field = FieldOf(parameter.name, argument.style);
    const auto own = job.arguments.find(parameter.name);
    const bool is_named = own != job.arguments.end() && !own->second.name.empty();
    VERNIER_RETURN_IF_ERROR(CheckStyle(parameter, argument.style));
    VERNIER_RETURN_IF_ERROR(is_named ? CheckOwnName(field, own->second)
                                     : CheckMadeName(job, i, parameter.name, argument.style));
    // Positional arguments and the file have no names that could meet.
    if (!HasName(argument.style)) continue;
    const bool is_variable = argument.style == ArgumentStyle::kVariable;
    const auto [other, is_new] =
        taken.emplace(std::pair(is_variable, argument.name), parameter.name);
    if (is_new) continue;
    if (other->second.empty()) {
      // A parameter "job-dir" without a name of its own was always allowed; stored studies may have one.
      if (!is_named) continue;
      return FieldError(field, fmt::format("'{}' is how job.dir is given", argument.name));
    }
    return FieldError(
        field, fmt::format("parameter '{}' is given as '{}' too", other->second, argument.name));
  }
  return absl::OkStatus();
}

}  // namespace vernier
