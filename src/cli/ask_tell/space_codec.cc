// JSON has one type for numbers, C++ several. A client that lists 1 must not get 1.0, which Python for one does not
// take for an index; so listed values are remembered as JSON and returned unchanged.

#include "src/cli/ask_tell/space_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "src/core/status.h"
#include "vernier/core/unit_cube.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;

// The field `key` of a parameter, or nullptr.
const Json* Field(const Json& parameter, const char* key) {
  const auto found = parameter.find(key);
  return found == parameter.end() ? nullptr : &*found;
}

absl::StatusOr<double> NumberField(const std::string& path,
                                   const Json& parameter,
                                   const char* key) {
  const Json* field = Field(parameter, key);
  if (field == nullptr) return InvalidArgument("{}.{}: is missing", path, key);
  if (!field->is_number()) {
    return InvalidArgument("{}.{}: must be a number, got {}", path, key, field->dump());
  }
  return field->get<double>();
}

absl::StatusOr<std::int64_t> AsInteger(const std::string& path, const Json& value) {
  // JSON for modern C++ keeps larger numbers as unsigned; a cast would wrap.
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
    return InvalidArgument("{}: must fit 64 bits with a sign, got {}", path, value.dump());
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it doubles skip integers.
  // Encoders may write whole numbers as 3.0.
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) <= kExact) {
      return static_cast<std::int64_t>(number);
    }
  }
  return InvalidArgument("{}: must be an integer, got {}", path, value.dump());
}

absl::StatusOr<std::int64_t> IntegerField(const std::string& path,
                                          const Json& parameter,
                                          const char* key) {
  const Json* field = Field(parameter, key);
  if (field == nullptr) return InvalidArgument("{}.{}: is missing", path, key);
  return AsInteger(path + "." + key, *field);
}

absl::StatusOr<Scale> ScaleField(const std::string& path, const Json& parameter) {
  const Json* field = Field(parameter, "log");
  if (field == nullptr) return Scale::kLinear;
  if (!field->is_boolean()) {
    return InvalidArgument("{}.log: must be true or false, got {}", path, field->dump());
  }
  return field->get<bool>() ? Scale::kLog : Scale::kLinear;
}

absl::StatusOr<ParameterValue> ListedValue(const std::string& path, const Json& value) {
  if (value.is_string()) return ParameterValue(value.get<std::string>());
  if (value.is_boolean()) return ParameterValue(value.get<bool>());
  if (value.is_number_float()) return ParameterValue(value.get<double>());
  if (value.is_number()) {
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t integer, AsInteger(path, value));
    return ParameterValue(integer);
  }
  return InvalidArgument("{}: must be text or a number, got {}", path, value.dump());
}

absl::StatusOr<std::vector<Json>> ListField(const std::string& path, const Json& parameter) {
  const Json* field = Field(parameter, "values");
  if (field == nullptr) return InvalidArgument("{}.values: is missing", path);
  if (!field->is_array() || field->empty()) {
    return InvalidArgument(
        "{}.values: must be a list of at least one value, got {}", path, field->dump());
  }
  return std::vector<Json>(field->begin(), field->end());
}

absl::StatusOr<std::vector<ParameterValue>> ListedValues(const std::string& path,
                                                         const std::vector<Json>& values) {
  std::vector<ParameterValue> listed;
  for (const Json& value : values) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue plain, ListedValue(path + ".values", value));
    listed.push_back(std::move(plain));
  }
  return listed;
}

absl::StatusOr<std::vector<double>> DiscreteValues(const std::string& path,
                                                   const std::vector<Json>& values) {
  std::vector<double> numbers;
  for (const Json& value : values) {
    if (!value.is_number()) {
      return InvalidArgument("{}.values: must be numbers, got {}", path, value.dump());
    }
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

absl::StatusOr<Domain> FloatRange(const std::string& path, const Json& parameter) {
  VERNIER_ASSIGN_OR_RETURN(const double lower, NumberField(path, parameter, "min"));
  VERNIER_ASSIGN_OR_RETURN(const double upper, NumberField(path, parameter, "max"));
  VERNIER_ASSIGN_OR_RETURN(const Scale scale, ScaleField(path, parameter));
  return FloatDomain{.lower = lower, .upper = upper, .scale = scale};
}

absl::StatusOr<Domain> IntRange(const std::string& path, const Json& parameter) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t lower, IntegerField(path, parameter, "min"));
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t upper, IntegerField(path, parameter, "max"));
  VERNIER_ASSIGN_OR_RETURN(const Scale scale, ScaleField(path, parameter));
  return IntDomain{.lower = lower, .upper = upper, .scale = scale};
}

absl::StatusOr<Domain> ParseDomain(const std::string& path, const Json& parameter) {
  const Json* type = Field(parameter, "type");
  if (type == nullptr) return InvalidArgument("{}.type: is missing", path);
  if (*type == "float") return FloatRange(path, parameter);
  if (*type == "int") return IntRange(path, parameter);
  if (*type != "categorical" && *type != "discrete") {
    return InvalidArgument(
        "{}.type: must be float, int, categorical or discrete, got {}", path, type->dump());
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Json> values, ListField(path, parameter));
  if (*type == "discrete") {
    VERNIER_ASSIGN_OR_RETURN(std::vector<double> numbers, DiscreteValues(path, values));
    return DiscreteDomain{std::move(numbers)};
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<ParameterValue> listed, ListedValues(path, values));
  return CategoricalDomain{std::move(listed)};
}

// The value that the JSON stands for, in the type of the domain.
absl::StatusOr<ParameterValue> ParseValue(const std::string& path,
                                          const Domain& domain,
                                          const Json& value) {
  if (std::holds_alternative<CategoricalDomain>(domain)) return ListedValue(path, value);
  if (std::holds_alternative<IntDomain>(domain)) {
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t integer, AsInteger(path, value));
    return ParameterValue(integer);
  }
  if (!value.is_number()) {
    return InvalidArgument("{}: must be a number, got {}", path, value.dump());
  }
  return ParameterValue(value.get<double>());
}

const Parameter* FindParameter(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto found = std::find_if(
      parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

absl::StatusOr<Condition> ParseParent(const std::string& path,
                                      const Json& parent,
                                      const std::vector<Parameter>& before) {
  if (!parent.is_object()) {
    return InvalidArgument("{}.parent: must be an object, got {}", path, parent.dump());
  }
  const Json* name = Field(parent, "name");
  if (name == nullptr || !name->is_string()) {
    return InvalidArgument("{}.parent.name: must be the name of a parameter", path);
  }
  const auto text = name->get<std::string>();
  const Parameter* known = FindParameter(before, text);
  if (known == nullptr) {
    return InvalidArgument("{}.parent.name: no parameter '{}' comes before this one", path, text);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Json> values, ListField(path + ".parent", parent));
  Condition condition = {.parent = text, .values = {}};
  for (const Json& value : values) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue plain,
                             ParseValue(path + ".parent.values", known->domain, value));
    condition.values.push_back(std::move(plain));
  }
  return condition;
}

absl::StatusOr<Parameter> ParseParameter(const std::string& path,
                                         const Json& parameter,
                                         const std::vector<Parameter>& before) {
  if (!parameter.is_object()) {
    return InvalidArgument("{}: must be an object, got {}", path, parameter.dump());
  }
  const Json* name = Field(parameter, "name");
  if (name == nullptr || !name->is_string()) {
    return InvalidArgument("{}.name: must be text", path);
  }
  Parameter parsed;
  parsed.name = name->get<std::string>();
  VERNIER_ASSIGN_OR_RETURN(parsed.domain, ParseDomain(path, parameter));
  if (const Json* parent = Field(parameter, "parent"); parent != nullptr && !parent->is_null()) {
    VERNIER_ASSIGN_OR_RETURN(Condition condition, ParseParent(path, *parent, before));
    parsed.when.push_back(std::move(condition));
  }
  return parsed;
}

}  // namespace

absl::StatusOr<SpaceCodec> SpaceCodec::Parse(const Json& space) {
  if (!space.is_array()) return InvalidArgument("space: must be a list of parameters");
  SpaceCodec codec;
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const std::string path = fmt::format("space[{}]", i);
    // Parents must come before their children, so only earlier parameters are known.
    VERNIER_ASSIGN_OR_RETURN(Parameter parameter, ParseParameter(path, space[i], parameters));
    if (const Json* values = Field(space[i], "values")) {
      codec.listed_[parameter.name].assign(values->begin(), values->end());
    }
    parameters.push_back(std::move(parameter));
  }
  VERNIER_ASSIGN_OR_RETURN(codec.space_, Space::Create(std::move(parameters)));
  return codec;
}

Json SpaceCodec::Encode(const Point& point) const {
  Json params = Json::object();
  for (const Parameter& parameter : space_.parameters()) {
    const auto value = point.find(parameter.name);
    if (value == point.end()) continue;
    const auto listed = listed_.find(parameter.name);
    if (listed != listed_.end()) {
      params[parameter.name] =
          listed->second[static_cast<std::size_t>(IndexOf(parameter, value->second))];
    } else {
      std::visit([&](const auto& plain) { params[parameter.name] = plain; }, value->second);
    }
  }
  return params;
}

absl::StatusOr<Point> SpaceCodec::Decode(const Json& params) const {
  if (!params.is_object()) {
    return InvalidArgument("params: must be an object, got {}", params.dump());
  }
  for (const auto& [name, value] : params.items()) {
    // A misspelt name must not look like an inactive parameter.
    if (!space_.Find(name)) return InvalidArgument("params.{}: no such parameter", name);
  }
  Point point;
  // Whether a parameter is active depends on its parents' values.
  for (const int index : space_.parents_first()) {
    const Parameter& parameter = space_.parameters()[static_cast<std::size_t>(index)];
    const auto value = params.find(parameter.name);
    if (value == params.end() || !space_.IsActive(index, point)) continue;
    VERNIER_ASSIGN_OR_RETURN(point[parameter.name],
                             ParseValue("params." + parameter.name, parameter.domain, *value));
  }
  VERNIER_RETURN_IF_ERROR(space_.Check(point));
  return point;
}

}  // namespace vernier::cli
