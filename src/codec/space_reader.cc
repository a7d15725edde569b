#include "src/codec/space_reader.h"

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/nearest.h"

namespace vernier::codec {
namespace {

constexpr std::array<std::pair<const char*, Scale>, 3> kScales = {{
    {"linear", Scale::kLinear},
    {"log", Scale::kLog},
    {"reverse-log", Scale::kReverseLog},
}};

absl::StatusOr<Scale> ReadScale(const Json& json, const std::string& path) {
  std::vector<std::string> names;
  // Compared as JSON, so that what is no text fits none.
  for (const auto& [name, scale] : kScales) {
    if (json == name) return scale;
    names.emplace_back(name);
  }
  if (!json.is_string()) return MustBe(path, "linear, log or reverse-log", json);
  const auto& given = json.get_ref<const std::string&>();
  return FieldError(path, fmt::format("unknown scale '{}'{}", given, NearestHint(given, names)));
}

// One of these keys says which domain a parameter has.
constexpr std::array kDomainKeys = {"float", "int", "discrete", "categorical", "bool"};

absl::StatusOr<std::string> DomainKey(const Json& json, const std::string& path) {
  std::string found;
  for (const char* const key : kDomainKeys) {
    if (!json.contains(key)) continue;
    // Two domains would leave it open which one counts.
    if (!found.empty()) {
      return FieldError(path, fmt::format("has two domains, {} and {}; one is needed", found, key));
    }
    found = key;
  }
  if (found.empty()) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    // Shows what is there: most often a misspelt key.
    return FieldError(path,
                      fmt::format("needs one of float, int, discrete, categorical, bool, such as "
                                  "{{float: [0.001, 1], scale: log}} or {{categorical: [a, b]}}, "
                                  "got {}",
                                  keys.empty() ? "no key" : fmt::to_string(fmt::join(keys, ", "))));
  }
  return found;
}

template <typename T>
absl::Status ReadBounds(const Mapping& mapping,
                        std::string_view key,
                        absl::StatusOr<T> (*reader)(const Json&, const std::string&),
                        T& lower,
                        T& upper) {
  VERNIER_ASSIGN_OR_RETURN(const Json* json, mapping.Require(key));
  const std::string path = mapping.PathOf(key);
  if (!json->is_array() || json->size() != 2) {
    return MustBe(path, "a list of two numbers, [lower, upper]", *json);
  }
  VERNIER_ASSIGN_OR_RETURN(lower, reader((*json)[0], path + "[0]"));
  VERNIER_ASSIGN_OR_RETURN(upper, reader((*json)[1], path + "[1]"));
  return absl::OkStatus();
}

// The keys that float and int parameters share.
template <typename D, typename T>
absl::Status ReadGridKeys(const Mapping& mapping,
                          absl::StatusOr<T> (*reader)(const Json&, const std::string&),
                          D& domain) {
  VERNIER_RETURN_IF_ERROR(mapping.Read<Scale>("scale", domain.scale, &ReadScale));
  VERNIER_RETURN_IF_ERROR(mapping.Read("step", domain.step, reader));
  return mapping.Read("points", domain.points, &ReadInt64);
}

absl::StatusOr<Domain> ReadFloat(const Json& json, const std::string& path, UnknownKeys unknown) {
  FloatDomain domain;
  // Keys that every parameter has, `default`, `when` and `arg`, are read elsewhere, and only allowed here.
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          json, path, {"float", "scale", "step", "points", "default", "when", "arg"}, unknown));
  VERNIER_RETURN_IF_ERROR(
      ReadBounds<double>(mapping, "float", &ReadNumber, domain.lower, domain.upper));
  VERNIER_RETURN_IF_ERROR(ReadGridKeys<FloatDomain>(mapping, &ReadNumber, domain));
  return domain;
}

absl::StatusOr<Domain> ReadInt(const Json& json, const std::string& path, UnknownKeys unknown) {
  IntDomain domain;
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(
          json, path, {"int", "scale", "step", "points", "default", "when", "arg"}, unknown));
  VERNIER_RETURN_IF_ERROR(
      ReadBounds<std::int64_t>(mapping, "int", &ReadInt64, domain.lower, domain.upper));
  VERNIER_RETURN_IF_ERROR(ReadGridKeys<IntDomain>(mapping, &ReadInt64, domain));
  return domain;
}

absl::StatusOr<Domain> ReadListed(const Json& json,
                                  const std::string& path,
                                  const std::string& key,
                                  UnknownKeys unknown) {
  VERNIER_ASSIGN_OR_RETURN(
      const Mapping mapping,
      Mapping::Open(json, path, {key.c_str(), "default", "when", "arg"}, unknown));
  // Only `bool` may have no value: `bool:` and `bool: {}` mean the same.
  if (key == "bool") {
    const Json* const value = mapping.Find(key);
    if (value != nullptr && !value->is_object()) {
      return MustBe(mapping.PathOf(key), "{} or {flag: true}", *value);
    }
    return BoolDomain{};
  }
  VERNIER_ASSIGN_OR_RETURN(const Json* list, mapping.Require(key));
  if (key == "discrete") {
    VERNIER_ASSIGN_OR_RETURN(std::vector<double> values,
                             ReadList<double>(*list, mapping.PathOf(key), &ReadNumber));
    return DiscreteDomain{std::move(values)};
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<ParameterValue> values,
                           ReadList<ParameterValue>(*list, mapping.PathOf(key), &ReadScalar));
  return CategoricalDomain{std::move(values)};
}

absl::StatusOr<Domain> ReadDomain(const Json& json, const std::string& path, UnknownKeys unknown) {
  VERNIER_ASSIGN_OR_RETURN(const std::string key, DomainKey(json, path));
  if (key == "float") return ReadFloat(json, path, unknown);
  if (key == "int") return ReadInt(json, path, unknown);
  return ReadListed(json, path, key, unknown);
}

// A whole number that stands for a value of a parameter of doubles becomes one.
ParameterValue AsValueOf(const Domain& domain, ParameterValue value) {
  const bool doubles =
      std::holds_alternative<FloatDomain>(domain) || std::holds_alternative<DiscreteDomain>(domain);
  const auto* const integer = std::get_if<std::int64_t>(&value);
  if (doubles && integer != nullptr) return static_cast<double>(*integer);
  return value;
}

absl::Status ReadConditionMap(const Json& json,
                              const std::string& path,
                              std::vector<Condition>& when) {
  if (!json.is_object()) {
    return MustBe(path, "a mapping of a parameter to its values", json);
  }
  // A mapping has each parent once.
  for (const auto& [parent, values] : json.items()) {
    const std::string at = fmt::format("{}.{}", path, parent);
    Condition condition{.parent = parent, .values = {}};
    // One value may stand without brackets.
    if (values.is_array()) {
      VERNIER_ASSIGN_OR_RETURN(condition.values, ReadList<ParameterValue>(values, at, &ReadScalar));
    } else {
      VERNIER_ASSIGN_OR_RETURN(condition.values.emplace_back(), ReadScalar(values, at));
    }
    when.push_back(std::move(condition));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Condition>> ReadConditions(const Json& json, const std::string& path) {
  std::vector<Condition> when;
  if (!json.is_array()) {
    VERNIER_RETURN_IF_ERROR(ReadConditionMap(json, path, when));
    return when;
  }
  // A list of mappings, so that one parent may have several conditions.
  for (std::size_t i = 0; i < json.size(); ++i) {
    VERNIER_RETURN_IF_ERROR(ReadConditionMap(json[i], fmt::format("{}[{}]", path, i), when));
  }
  return when;
}

absl::StatusOr<Parameter> ReadParameter(const std::string& name,
                                        const Json& json,
                                        const std::string& path,
                                        UnknownKeys unknown) {
  if (!json.is_object())
    return MustBe(path, "a mapping such as {float: [0, 1]} or {categorical: [a, b]}", json);
  Parameter parameter;
  parameter.name = name;
  VERNIER_ASSIGN_OR_RETURN(parameter.domain, ReadDomain(json, path, unknown));
  // The keys were checked with the domain, which knows them.
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                           Mapping::Open(json, path, {}, UnknownKeys::kIgnore));
  VERNIER_RETURN_IF_ERROR(
      mapping.Read<std::vector<Condition>>("when", parameter.when, &ReadConditions));
  if (const Json* const value = mapping.Find("default")) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue scalar, ReadScalar(*value, mapping.PathOf("default")));
    parameter.default_value = AsValueOf(parameter.domain, std::move(scalar));
  }
  return parameter;
}

// Conditions compare values exactly, so that 1 must become 1.0 where the parent holds doubles.
void TypeConditions(std::vector<Parameter>& parameters) {
  std::map<std::string, Domain> domains;
  for (const Parameter& parameter : parameters) domains[parameter.name] = parameter.domain;
  for (Parameter& parameter : parameters) {
    for (Condition& condition : parameter.when) {
      const auto parent = domains.find(condition.parent);
      // Space::Create says that there is no such parent.
      if (parent == domains.end()) continue;
      for (ParameterValue& value : condition.values) {
        value = AsValueOf(parent->second, std::move(value));
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Parameter>> ReadParameters(const Json& json,
                                                      const std::string& path,
                                                      UnknownKeys unknown_keys) {
  if (!json.is_object()) return MustBe(path, "a mapping of names to parameters", json);
  std::vector<Parameter> parameters;
  for (const auto& [name, value] : json.items()) {
    VERNIER_ASSIGN_OR_RETURN(
        Parameter parameter,
        ReadParameter(name, value, fmt::format("{}.{}", path, name), unknown_keys));
    parameters.push_back(std::move(parameter));
  }
  // Last: a parent may be listed after its child.
  TypeConditions(parameters);
  return parameters;
}

}  // namespace vernier::codec
