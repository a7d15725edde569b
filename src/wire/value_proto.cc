#include "src/wire/value_proto.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

// U+FFFD, as UTF-8.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// The first double that does not fit into a signed integer of 64 bits; its negative does.
constexpr double kTwoTo63 = 9223372036854775808.0;

struct ValueEncoder {
  v1::ParameterValue* out;
  void operator()(bool value) const { out->set_boolean(value); }
  void operator()(std::int64_t value) const { out->set_integer(value); }
  void operator()(double value) const { out->set_number(value); }
  // Even a text that the user chose: a message with other bytes would be refused as a whole.
  void operator()(const std::string& value) const { out->set_text(ValidUtf8(value)); }
};

bool IsWhole(double value) {
  return std::trunc(value) == value && value >= -kTwoTo63 && value < kTwoTo63;
}

// How many bytes the sequence at the start of `text` takes, by RFC 3629; 0 if it is not legal.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

void EncodeValue(const ParameterValue& value, v1::ParameterValue* out) {
  std::visit(ValueEncoder{out}, value);
}

absl::StatusOr<ParameterValue> DecodeValue(std::string_view path, const v1::ParameterValue& value) {
  switch (value.kind_case()) {
    case v1::ParameterValue::kNumber:
      return value.number();
    case v1::ParameterValue::kInteger:
      return std::int64_t{value.integer()};
    case v1::ParameterValue::kBoolean:
      return value.boolean();
    case v1::ParameterValue::kText:
      return value.text();
    case v1::ParameterValue::KIND_NOT_SET:
      break;
  }
  return FieldError(path, "needs one of number, integer, boolean, text");
}

void EncodePoint(const Point& point, PointProto* out) {
  for (const auto& [name, value] : point) EncodeValue(value, &(*out)[name]);
}

absl::StatusOr<Point> DecodePoint(std::string_view path, const PointProto& point) {
  Point decoded;
  for (const auto& [name, proto] : point) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue value,
                             DecodeValue(fmt::format("{}.{}", path, name), proto));
    decoded.emplace(name, std::move(value));
  }
  return decoded;
}

ParameterValue FitValue(const Domain& domain, ParameterValue value) {
  const bool wants_double =
      std::holds_alternative<FloatDomain>(domain) || std::holds_alternative<DiscreteDomain>(domain);
  if (const auto* integer = std::get_if<std::int64_t>(&value); integer != nullptr && wants_double) {
    return static_cast<double>(*integer);
  }
  // A number with a fraction is left as it is, for the space to refuse.
  const bool wants_integer = std::holds_alternative<IntDomain>(domain);
  if (const auto* number = std::get_if<double>(&value);
      number != nullptr && wants_integer && IsWhole(*number)) {
    return static_cast<std::int64_t>(*number);
  }
  return value;
}

Point FitPoint(const Space& space, Point point) {
  for (auto& [name, value] : point) {
    // An unknown name is an error that the space tells of.
    if (const auto index = space.Find(name)) {
      value =
          FitValue(space.parameters()[static_cast<std::size_t>(*index)].domain, std::move(value));
    }
  }
  return point;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    valid += length == 0 ? kReplacement : text.substr(0, length);
    // One byte at a time: what follows a broken sequence may be sound.
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace vernier::wire
