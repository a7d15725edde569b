#include <optional>
#include <set>

#include "src/codec/event_json.h"
#include "src/codec/space_reader.h"
#include "src/core/check.h"

namespace vernier::codec {
namespace {

const char* ScaleName(Scale scale) {
  switch (scale) {
    case Scale::kLinear:
      return "linear";
    case Scale::kLog:
      return "log";
    case Scale::kReverseLog:
      return "reverse-log";
  }
  VERNIER_CHECK(false, "a scale outside its enum");
}

// Scale is written even where it is linear, so that a file shows what counts.
template <typename D>
void WriteRange(Json& json, const char* key, const D& domain) {
  json[key] = Json::array({domain.lower, domain.upper});
  json["scale"] = ScaleName(domain.scale);
  if (domain.step) json["step"] = *domain.step;
  if (domain.points) json["points"] = *domain.points;
}

Json ValuesToJson(const std::vector<ParameterValue>& values) {
  Json list = Json::array();
  for (const ParameterValue& value : values) list.push_back(ValueToJson(value));
  return list;
}

void WriteDomain(Json& json, const FloatDomain& domain) { WriteRange(json, "float", domain); }
void WriteDomain(Json& json, const IntDomain& domain) { WriteRange(json, "int", domain); }
void WriteDomain(Json& json, const DiscreteDomain& domain) { json["discrete"] = domain.values; }
void WriteDomain(Json& json, const CategoricalDomain& domain) {
  json["categorical"] = ValuesToJson(domain.values);
}
void WriteDomain(Json& json, const BoolDomain&) { json["bool"] = Json::object(); }

// One mapping, or a list of mappings where one parent has several conditions.
Json ConditionsToJson(const std::vector<Condition>& when) {
  std::set<std::string> parents;
  for (const Condition& condition : when) parents.insert(condition.parent);
  // A mapping would lose all but the last condition of a parent.
  if (parents.size() == when.size()) {
    Json mapping = Json::object();
    for (const Condition& condition : when) {
      mapping[condition.parent] = ValuesToJson(condition.values);
    }
    return mapping;
  }
  Json list = Json::array();
  for (const Condition& condition : when) {
    list.push_back(Json::object({{condition.parent, ValuesToJson(condition.values)}}));
  }
  return list;
}

}  // namespace

Json ParametersToJson(const std::vector<Parameter>& parameters) {
  Json json = Json::object();
  for (const Parameter& parameter : parameters) {
    Json entry = Json::object();
    std::visit([&](const auto& domain) { WriteDomain(entry, domain); }, parameter.domain);
    if (parameter.default_value) entry["default"] = ValueToJson(*parameter.default_value);
    if (!parameter.when.empty()) entry["when"] = ConditionsToJson(parameter.when);
    json[parameter.name] = std::move(entry);
  }
  return json;
}

}  // namespace vernier::codec
