#include "src/codec/argument_form.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/check.h"
#include "src/core/nearest.h"
#include "src/core/parameter_argument.h"

namespace vernier::codec {
namespace {

// Styles that a file may name. Those of flags are missing: a flag is told by the keys of `bool`.
constexpr std::array<std::pair<const char*, ArgumentStyle>, 6> kStyles = {{
    {"option", ArgumentStyle::kOption},
    {"separate", ArgumentStyle::kSeparate},
    {"positional", ArgumentStyle::kPositional},
    {"assignment", ArgumentStyle::kAssignment},
    {"env", ArgumentStyle::kVariable},
    {"file", ArgumentStyle::kFile},
}};

constexpr std::string_view kVariable = "env:";
// For messages; ParseArgument and ReadNamed are what counts.
constexpr char kForms[] =
    "an option such as --lr, an assignment such as lr=, positional, env, env:LR or file";

std::optional<ArgumentStyle> FindStyle(std::string_view name) {
  for (const auto& [known, style] : kStyles) {
    if (name == known) return style;
  }
  return std::nullopt;
}

std::vector<std::string> StyleNames() {
  std::vector<std::string> names;
  names.reserve(kStyles.size());
  for (const auto& [name, style] : kStyles) names.emplace_back(name);
  return names;
}

// "-l": the value is a word of its own by custom.
bool IsShortOption(std::string_view name) {
  return name.size() == 2 && name[0] == '-' && name[1] != '-';
}

// How an option is given its value where only its name is told.
ArgumentStyle StyleOfOption(std::string_view name, ArgumentStyle of_job) {
  const bool is_separate = of_job == ArgumentStyle::kSeparate || IsShortOption(name);
  return is_separate ? ArgumentStyle::kSeparate : ArgumentStyle::kOption;
}

// One text: a style, an option, "lr=" or "env:LR".
absl::StatusOr<ParameterArgument> ParseArgument(const std::string& text,
                                                const std::string& path,
                                                ArgumentStyle of_job) {
  if (const auto style = FindStyle(text)) return ParameterArgument{.style = *style, .name = {}};
  if (text.starts_with(kVariable) && text.size() > kVariable.size()) {
    return ParameterArgument{.style = ArgumentStyle::kVariable,
                             .name = text.substr(kVariable.size())};
  }
  // "lr=" is an assignment and "--lr=" an option, whose name has no "=".
  if (text.size() > 1 && text.ends_with('=')) {
    return ParameterArgument{
        .style = text.starts_with('-') ? ArgumentStyle::kOption : ArgumentStyle::kAssignment,
        .name = text.substr(0, text.size() - 1)};
  }
  if (text.starts_with('-')) {
    return ParameterArgument{.style = StyleOfOption(text, of_job), .name = text};
  }
  // Only a hint that says "did you mean", as kForms lists all the styles anyway.
  const std::string hint = NearestHint(text, StyleNames());
  return FieldError(path,
                    fmt::format("must be {}, got '{}'{}",
                                kForms,
                                text,
                                hint.find("mean") == std::string::npos ? "" : hint));
}

// `{separate: --lr}`: any style with a name.
absl::StatusOr<ParameterArgument> ReadNamed(const Json& json, const std::string& path) {
  if (json.size() != 1) return MustBe(path, "one style and its name, as {separate: --lr}", json);
  const std::string& key = json.begin().key();
  const Json& name = json.begin().value();
  const std::optional<ArgumentStyle> style = FindStyle(key);
  if (!style.has_value()) {
    return FieldError(fmt::format("{}.{}", path, key),
                      fmt::format("unknown style{}", NearestHint(key, StyleNames())));
  }
  ParameterArgument argument{.style = *style, .name = {}};
  VERNIER_ASSIGN_OR_RETURN(argument.name, ReadText(name, fmt::format("{}.{}", path, key)));
  return argument;
}

absl::StatusOr<ParameterArgument> ReadArgument(const Json& json,
                                               const std::string& path,
                                               ArgumentStyle of_job) {
  if (json.is_object()) return ReadNamed(json, path);
  // The style with the name beside it can say everything; a text is for what is usual.
  if (!json.is_string()) return MustBe(path, kForms, json);
  return ParseArgument(json.get_ref<const std::string&>(), path, of_job);
}

// The keys of `bool`; nothing if they do not speak of a flag.
absl::StatusOr<std::optional<ParameterArgument>> ReadFlag(const Json& json,
                                                          const std::string& path,
                                                          const std::string& parameter,
                                                          UnknownKeys unknown_keys) {
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {"flag", "if"}, unknown_keys));
  const Json* const flag = mapping.Find("flag");
  if (flag == nullptr && mapping.Find("if") != nullptr) {
    return FieldError(mapping.PathOf("if"), "says when a flag is given, and there is no flag");
  }
  if (flag == nullptr) return std::optional<ParameterArgument>();
  ParameterArgument argument{.style = ArgumentStyle::kFlag, .name = {}};
  if (flag->is_string()) {
    argument.name = flag->get<std::string>();
    if (argument.name.empty()) return MustBe(mapping.PathOf("flag"), "true or --NAME", *flag);
  } else if (*flag != true) {
    return MustBe(mapping.PathOf("flag"), "true or a name such as --nesterov", *flag);
  }
  // "--no-nesterov" for the parameter `nesterov` is given where the value is false, unless the file says otherwise.
  bool given_if = !IsNegativeFlag(argument.name, parameter);
  VERNIER_RETURN_IF_ERROR(mapping.Read("if", given_if, &ReadBool));
  if (!given_if) argument.style = ArgumentStyle::kAbsentFlag;
  return std::optional<ParameterArgument>(std::move(argument));
}

Json FlagToJson(const ParameterArgument& argument, const std::string& parameter) {
  Json json = Json::object();
  json["flag"] = argument.name.empty() ? Json(true) : Json(argument.name);
  const bool given_if = argument.style == ArgumentStyle::kFlag;
  // Only where it is not what the name suggests.
  if (given_if == IsNegativeFlag(argument.name, parameter)) json["if"] = given_if;
  return json;
}

Json ArgumentToJson(const ParameterArgument& argument, ArgumentStyle of_job) {
  // The shortest form that reads back as the same argument.
  const std::string& name = argument.name;
  if (name.empty()) return ArgumentStyleName(argument.style);
  // With another style, or with "=" at the end, a text would read back as something else.
  if (name.starts_with('-') && !name.ends_with('=') &&
      StyleOfOption(name, of_job) == argument.style) {
    return name;
  }
  if (argument.style == ArgumentStyle::kVariable) return std::string(kVariable) + name;
  // A text with "-" in front would read back as an option, one with "env:" as a variable.
  if (argument.style == ArgumentStyle::kAssignment && !name.starts_with('-') &&
      !name.starts_with(kVariable)) {
    return name + "=";
  }
  return Json::object({{ArgumentStyleName(argument.style), name}});
}

}  // namespace

absl::StatusOr<ArgumentStyle> ReadArgumentStyle(const Json& json, const std::string& path) {
  if (!json.is_string()) {
    return MustBe(path, "option, separate, positional, assignment, env or file", json);
  }
  const auto& name = json.get_ref<const std::string&>();
  if (const auto style = FindStyle(name)) return *style;
  return FieldError(path,
                    fmt::format("unknown style '{}'{}", name, NearestHint(name, StyleNames())));
}

const char* ArgumentStyleName(ArgumentStyle style) {
  for (const auto& [name, known] : kStyles) {
    if (style == known) return name;
  }
  VERNIER_CHECK(false, "a flag is no style of all parameters");
}

absl::Status ReadArguments(const Json& parameters,
                           const std::string& path,
                           UnknownKeys unknown_keys,
                           TrainingJob& job) {
  for (const auto& [name, parameter] : parameters.items()) {
    const std::string at = fmt::format("{}.{}", path, name);
    // The other keys are the parameter's own, and ReadParameters looks at them.
    VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                             Mapping::Open(parameter, at, {}, UnknownKeys::kIgnore));
    const Json* const argument = mapping.Find("arg");
    if (const Json* const domain = mapping.Find("bool")) {
      VERNIER_ASSIGN_OR_RETURN(std::optional<ParameterArgument> flag,
                               ReadFlag(*domain, mapping.PathOf("bool"), name, unknown_keys));
      // Both would say how the parameter is given.
      if (flag.has_value() && argument != nullptr) {
        return FieldError(mapping.PathOf("arg"), "cannot go with bool.flag; give one of them");
      }
      if (flag.has_value()) job.arguments[name] = *std::move(flag);
    }
    if (argument == nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(job.arguments[name],
                             ReadArgument(*argument, mapping.PathOf("arg"), job.argument_style));
  }
  return absl::OkStatus();
}

absl::Status RefuseArguments(const Json& parameters, const std::string& path) {
  // Read for a job that does not exist, so that the rules of what is an argument are in one place.
  TrainingJob none;
  VERNIER_RETURN_IF_ERROR(ReadArguments(parameters, path, UnknownKeys::kRefuse, none));
  if (none.arguments.empty()) return absl::OkStatus();
  const auto& [name, argument] = *none.arguments.begin();
  const bool is_flag =
      argument.style == ArgumentStyle::kFlag || argument.style == ArgumentStyle::kAbsentFlag;
  return FieldError(fmt::format("{}.{}.{}", path, name, is_flag ? "bool.flag" : "arg"),
                    "says how a job's program is given the parameter, and the study has no job");
}

void WriteArguments(const TrainingJob& job, Json& parameters) {
  for (const auto& [name, argument] : job.arguments) {
    const auto parameter = parameters.find(name);
    if (parameter == parameters.end()) continue;
    if (argument.style == ArgumentStyle::kFlag || argument.style == ArgumentStyle::kAbsentFlag) {
      (*parameter)["bool"] = FlagToJson(argument, name);
    } else {
      (*parameter)["arg"] = ArgumentToJson(argument, job.argument_style);
    }
  }
}

}  // namespace vernier::codec
