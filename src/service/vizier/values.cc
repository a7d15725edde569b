#include "src/service/vizier/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "fmt/format.h"
#include "src/core/domain.h"
#include "vernier/core/error.h"

namespace vernier::vizier {
namespace {

using google::protobuf::Value;

// Of the listed values the one that is written so.
// Values that are numbers in Vernier are text in Vizier: compare as they are written.
ParameterValue Listed(const std::vector<ParameterValue>& values, std::string_view text) {
  for (const ParameterValue& value : values) {
    if (FormatValue(value) == text) return value;
  }
  // Not one of them; the space says so, with the list of those that there are.
  return std::string(text);
}

ParameterValue OfText(const Domain& domain, const std::string& text) {
  // "True" is what Vizier's Python client writes, "true" what others might.
  if (std::holds_alternative<BoolDomain>(domain)) {
    if (text == "True" || text == "true") return true;
    if (text == "False" || text == "false") return false;
  }
  if (const auto* const listed = std::get_if<CategoricalDomain>(&domain)) {
    return Listed(listed->values, text);
  }
  return text;
}

ParameterValue OfNumber(const Domain& domain, double number) {
  if (std::holds_alternative<BoolDomain>(domain) && (number == 0 || number == 1)) {
    return number == 1;
  }
  if (const auto* const listed = std::get_if<CategoricalDomain>(&domain)) {
    // Vizier's client has booleans as these two texts, and sends them as numbers.
    const bool is_boolean = std::ranges::is_permutation(
        listed->values, std::array<ParameterValue, 2>{std::string("False"), std::string("True")});
    if (is_boolean && (number == 0 || number == 1))
      return std::string(number == 1 ? "True" : "False");
    return Listed(listed->values, FormatValue(number));
  }
  // protobuf's Value has doubles only; an integer domain gets its integer back.
  return InKindOf(domain, number);
}

}  // namespace

void EncodeValue(const ParameterValue& value, Value* out) {
  // Python's spelling: Vizier's client compares the text.
  if (const auto* const flag = std::get_if<bool>(&value)) {
    out->set_string_value(*flag ? "True" : "False");
  } else if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    out->set_number_value(static_cast<double>(*integer));
  } else if (const auto* const number = std::get_if<double>(&value)) {
    out->set_number_value(*number);
  } else {
    out->set_string_value(std::get<std::string>(value));
  }
}

absl::StatusOr<ParameterValue> DecodeValue(std::string_view field,
                                           const Domain& domain,
                                           const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return OfNumber(domain, value.number_value());
    case Value::kStringValue:
      return OfText(domain, value.string_value());
    case Value::kBoolValue:
      return OfText(domain, value.bool_value() ? "True" : "False");
    default:
      return FieldError(field, "must be a number or text");
  }
}

void EncodeMetadata(const Metadata& metadata,
                    google::protobuf::RepeatedPtrField<::vizier::KeyValue>* out) {
  for (const auto& [key, value] : metadata) {
    ::vizier::KeyValue& entry = *out->Add();
    entry.set_ns(key.space);
    entry.set_key(key.name);
    // A value with a type is a packed message; it is stored as bytes, and not looked into.
    if (value.type.empty()) {
      entry.set_value(value.content);
    } else {
      entry.mutable_proto()->set_type_url(value.type);
      entry.mutable_proto()->set_value(value.content);
    }
  }
}

void DecodeMetadatum(const ::vizier::KeyValue& entry, Metadata& metadata) {
  MetadataValue& value = metadata[{.space = entry.ns(), .name = entry.key()}];
  value = entry.has_proto()
              ? MetadataValue{.type = entry.proto().type_url(), .content = entry.proto().value()}
              : MetadataValue{.type = "", .content = entry.value()};
}

}  // namespace vernier::vizier
