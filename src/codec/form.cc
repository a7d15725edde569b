#include "src/codec/form.h"

#include <cmath>
#include <limits>

#include "src/codec/spec_form.h"
#include "src/codec/study_file.h"

namespace vernier::codec {
namespace {

// Always nine digits, so that times as texts are equally long: see ReadTimeText.
constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E9SZ";
constexpr std::size_t kExcerptLength = 60;

}  // namespace

// Bytes that are no UTF-8 are replaced, as dump() would throw.
std::string Excerpt(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  // The cut may have split a character, so it is repaired.
  if (text.size() > kExcerptLength) text = ToValidUtf8(text.substr(0, kExcerptLength)) + "…";
  return text;
}

absl::Status WrongType(std::string_view expected, const Json& found) {
  return DataLoss(": must be {}, got {}", expected, Excerpt(found));
}

// Each level puts its part in front, so that the path is complete where the error comes out.
absl::Status Within(std::string_view outer, const absl::Status& status) {
  return DataLoss("{}{}", outer, std::string(status.message()));
}

absl::Status Form<std::int64_t>::Read(const Json& json, std::int64_t& value) {
  // The parser takes a number without a sign for unsigned. It is a signed one if it fits.
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool beyond = json.is_number_unsigned() && json.get<std::uint64_t>() > kMax;
  if (!json.is_number_integer() || beyond) return WrongType("an integer", json);
  value = json.get<std::int64_t>();
  return absl::OkStatus();
}

absl::Status Form<std::int32_t>::Read(const Json& json, std::int32_t& value) {
  std::int64_t wide = 0;
  VERNIER_RETURN_IF_ERROR(Form<std::int64_t>::Read(json, wide));
  value = static_cast<std::int32_t>(wide);
  return value == wide ? absl::OkStatus() : WrongType("an integer of 32 bits", json);
}

absl::Status Form<std::uint64_t>::Read(const Json& json, std::uint64_t& value) {
  const bool negative =
      // The parser takes a number for signed only if it is negative; a document that was built by hand may hold either.
      !json.is_number_unsigned() && json.is_number_integer() && json.get<std::int64_t>() < 0;
  if (!json.is_number_integer() || negative) return WrongType("an integer of at least 0", json);
  value = json.get<std::uint64_t>();
  return absl::OkStatus();
}

// JSON has no number for these three.
Json Form<double>::Write(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

absl::Status Form<double>::Read(const Json& json, double& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "inf") {
    value = kInfinity;
  } else if (json == "-inf") {
    value = -kInfinity;
  } else {
    return WrongType("a number", json);
  }
  return absl::OkStatus();
}

absl::Status Form<bool>::Read(const Json& json, bool& value) {
  if (!json.is_boolean()) return WrongType("true or false", json);
  value = json.get<bool>();
  return absl::OkStatus();
}

absl::Status Form<std::string>::Read(const Json& json, std::string& value) {
  if (!json.is_string()) return WrongType("text", json);
  value = json.get_ref<const std::string&>();
  return absl::OkStatus();
}

Json Form<ParameterValue>::Write(const ParameterValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    // As an object where it is not finite: the text "nan" is a legal category.
    return std::isfinite(*number) ? Json(*number)
                                  : Json::object({{"number", Form<double>::Write(*number)}});
  }
  if (const auto* text = std::get_if<std::string>(&value)) return ToValidUtf8(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return std::get<bool>(value);
}

absl::Status Form<ParameterValue>::Read(const Json& json, ParameterValue& value) {
  if (json.is_boolean()) {
    value = json.get<bool>();
  } else if (json.is_string()) {
    value = json.get<std::string>();
  } else if (json.is_number_float()) {
    // 3 stays an integer and 3.0 a double, so that values of both kinds read back as they were.
    value = json.get<double>();
  } else if (json.is_number_integer()) {
    return Form<std::int64_t>::Read(json, value.emplace<std::int64_t>());
  } else if (json.is_object() && json.size() == 1 && json.contains("number")) {
    return Form<double>::Read(json["number"], value.emplace<double>());
  } else {
    return WrongType("a number, text, true or false", json);
  }
  return absl::OkStatus();
}

Json Form<absl::Time>::Write(absl::Time value) {
  return absl::FormatTime(kTimeFormat, value, absl::UTCTimeZone());
}

absl::Status Form<absl::Time>::Read(const Json& json, absl::Time& value) {
  std::string error;
  const bool parsed =
      json.is_string() &&
      absl::ParseTime(absl::RFC3339_full, json.get_ref<const std::string&>(), &value, &error);
  return parsed ? absl::OkStatus() : WrongType("a time", json);
}

absl::Status Form<absl::Duration>::Read(const Json& json, absl::Duration& value) {
  std::int64_t nanoseconds = 0;
  VERNIER_RETURN_IF_ERROR(Form<std::int64_t>::Read(json, nanoseconds));
  value = absl::Nanoseconds(nanoseconds);
  return absl::OkStatus();
}

Json Form<StudySpec>::Write(const StudySpec& value) { return StudySpecToJson(value); }

absl::Status Form<StudySpec>::Read(const Json& json, StudySpec& value) {
  // A stored definition may have keys of a newer program, and may exceed limits of today.
  absl::StatusOr<StudySpec> spec = ReadSpec(json, UnknownKeys::kIgnore);
  if (!spec.ok()) return DataLoss(".{}", std::string(spec.status().message()));
  value = *std::move(spec);
  return absl::OkStatus();
}

}  // namespace vernier::codec
