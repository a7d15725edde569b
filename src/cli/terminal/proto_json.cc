// By reflection, so that new fields appear by themselves. protobuf's own JSON mapping is not used: it quotes 64-bit
// integers, renames fields to camelCase, and wraps parameter values in an object for each type.

#include "src/cli/terminal/proto_json.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "src/wire/time_proto.h"
#include "vernier/v1/trial.pb.h"

namespace vernier::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::ordered_json;

std::string FormatTime(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", wire::DecodeTime(time), absl::UTCTimeZone());
}

ordered_json ValueToJson(const v1::ParameterValue& value) {
  switch (value.kind_case()) {
    case v1::ParameterValue::kNumber:
      return NumberToJson(value.number());
    case v1::ParameterValue::kInteger:
      return value.integer();
    case v1::ParameterValue::kBoolean:
      return value.boolean();
    case v1::ParameterValue::kText:
      return value.text();
    case v1::ParameterValue::KIND_NOT_SET:
      break;
  }
  return nullptr;
}

// Messages with a JSON form of their own.
std::optional<ordered_json> SpecialForm(const Message& message) {
  if (const auto* value = dynamic_cast<const v1::ParameterValue*>(&message)) {
    return ValueToJson(*value);
  }
  if (const auto* time = dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return ordered_json(FormatTime(*time));
  }
  if (const auto* span = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return ordered_json(fmt::format("{}s", absl::ToDoubleSeconds(wire::DecodeDuration(*span))));
  }
  return std::nullopt;
}

// An enum value as users write it. Enum values of proto share one scope, so some have a prefix or a longer name there.
std::string EnumName(const google::protobuf::EnumValueDescriptor& value) {
  constexpr std::string_view kPrefixes[] = {"STUDY_", "ATTEMPT_"};
  std::string name = value.name();
  if (name == "INFEASIBLE_POINT") return "INFEASIBLE";
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// The field of the message, or its element `index` if it is repeated.
ordered_json ElementToJson(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
#define VERNIER_READ_(Type)                                        \
  (repeated ? reflection.GetRepeated##Type(message, &field, index) \
            : reflection.Get##Type(message, &field))
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return VERNIER_READ_(Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<std::int64_t>(VERNIER_READ_(Int64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return VERNIER_READ_(UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<std::uint64_t>(VERNIER_READ_(UInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberToJson(VERNIER_READ_(Double));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberToJson(VERNIER_READ_(Float));
    case FieldDescriptor::CPPTYPE_BOOL:
      return VERNIER_READ_(Bool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumName(*VERNIER_READ_(Enum));
    case FieldDescriptor::CPPTYPE_STRING:
      return VERNIER_READ_(String);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ProtoToJson(repeated ? reflection.GetRepeatedMessage(message, &field, index)
                                  : reflection.GetMessage(message, &field));
  }
#undef VERNIER_READ_
  return nullptr;
}

// A map, sorted by key, so that equal messages print alike. All maps of our protos have text keys.
ordered_json MapToJson(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  std::map<std::string, ordered_json> entries;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const FieldDescriptor* key = entry.GetDescriptor()->map_key();
    const FieldDescriptor* value = entry.GetDescriptor()->map_value();
    entries[entry.GetReflection()->GetString(entry, key)] = ElementToJson(entry, *value, 0);
  }
  ordered_json object = ordered_json::object();
  for (auto& [key, value] : entries) object[key] = std::move(value);
  return object;
}

ordered_json ListToJson(const Message& message, const FieldDescriptor& field) {
  ordered_json list = ordered_json::array();
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) list.push_back(ElementToJson(message, field, i));
  return list;
}

bool IsShown(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  // Lists and maps are shown even if empty, so that programs need not ask whether a key is there.
  if (field.is_repeated()) return true;
  if (field.has_presence()) return reflection.HasField(message, &field);
  // Without presence, the value 0 of an enum means that nothing was said.
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return reflection.GetEnumValue(message, &field) != 0;
  }
  return true;
}

}  // namespace

// JSON has no such numbers. The names are those of proto3's JSON.
ordered_json NumberToJson(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

ordered_json ProtoToJson(const Message& message) {
  if (std::optional<ordered_json> form = SpecialForm(message)) return *std::move(form);
  ordered_json object = ordered_json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (!IsShown(message, field)) continue;
    if (field.is_map()) {
      object[field.name()] = MapToJson(message, field);
    } else if (field.is_repeated()) {
      object[field.name()] = ListToJson(message, field);
    } else {
      object[field.name()] = ElementToJson(message, field, 0);
    }
  }
  return object;
}

}  // namespace vernier::cli
