#include "src/codec/mapping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "fmt/format.h"
#include "src/codec/form.h"
#include "src/codec/study_file.h"
#include "src/core/byte_size.h"
#include "src/core/nearest.h"

namespace vernier::codec {

absl::Status MustBe(std::string_view path, std::string_view expected, const Json& found) {
  return FieldError(path, fmt::format("must be {}, got {}", expected, Excerpt(found)));
}

absl::StatusOr<Mapping> Mapping::Open(const Json& json,
                                      std::string path,
                                      const std::vector<const char*>& known,
                                      UnknownKeys unknown_keys) {
  if (!json.is_object()) {
    // The top of a file has no path.
    return MustBe(path.empty() ? "study file" : path, "a mapping of keys to values", json);
  }
  const Mapping mapping(json, std::move(path), unknown_keys);
  // Then `known` is not looked at, and may be empty.
  if (unknown_keys == UnknownKeys::kIgnore) return mapping;
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, value] : json.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    return FieldError(mapping.PathOf(key), "unknown key" + NearestHint(key, names, kListedKeys));
  }
  return mapping;
}

const Json* Mapping::Find(std::string_view key) const {
  const auto it = json_->find(std::string(key));
  // A key without a value, `budget:`, is null in YAML, and counts as left out.
  return it == json_->end() || it->is_null() ? nullptr : &*it;
}

absl::StatusOr<const Json*> Mapping::Require(std::string_view key) const {
  const Json* const value = Find(key);
  if (value == nullptr) return FieldError(PathOf(key), "is missing");
  return value;
}

std::string Mapping::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

absl::StatusOr<std::string> ReadText(const Json& json, const std::string& path) {
  if (json.is_string()) return json.get<std::string>();
  // `study: 12` is no text in YAML, which surprises people.
  const bool scalar = json.is_number() || json.is_boolean();
  return MustBe(path, scalar ? "text (write it in quotes)" : "text", json);
}

absl::StatusOr<double> ReadNumber(const Json& json, const std::string& path) {
  if (!json.is_number()) return MustBe(path, "a number", json);
  return json.get<double>();
}

absl::StatusOr<std::int64_t> ReadInt64(const Json& json, const std::string& path) {
  std::int64_t value = 0;
  if (Form<std::int64_t>::Read(json, value).ok()) return value;
  // The parser makes a double of an integer that exceeds 64 bits.
  const bool is_too_large = json.is_number() && std::abs(json.get<double>()) >= 0x1p63;
  return MustBe(path,
                is_too_large ? fmt::format("a whole number from {} to {}",
                                           std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max())
                             : "a whole number",
                json);
}

absl::StatusOr<std::int32_t> ReadInt32(const Json& json, const std::string& path) {
  std::int32_t value = 0;
  if (Form<std::int32_t>::Read(json, value).ok()) return value;
  return MustBe(
      path,
      fmt::format("a whole number of at most {}", std::numeric_limits<std::int32_t>::max()),
      json);
}

absl::StatusOr<std::uint64_t> ReadUint64(const Json& json, const std::string& path) {
  std::uint64_t value = 0;
  if (Form<std::uint64_t>::Read(json, value).ok()) return value;
  return MustBe(
      path,
      fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()),
      json);
}

absl::StatusOr<bool> ReadBool(const Json& json, const std::string& path) {
  if (!json.is_boolean()) return MustBe(path, "true or false", json);
  return json.get<bool>();
}

absl::StatusOr<absl::Duration> ReadDuration(const Json& json, const std::string& path) {
  constexpr std::string_view kExpected = "a duration such as 90s, 30m or 1h30m";
  if (!json.is_string()) return MustBe(path, kExpected, json);
  const absl::StatusOr<absl::Duration> duration = ParseDuration(json.get_ref<const std::string&>());
  if (!duration.ok()) return MustBe(path, kExpected, json);
  return *duration;
}

absl::StatusOr<std::int64_t> ReadMemory(const Json& json, const std::string& path) {
  // A number is read by ReadInt64, whose errors say what is wrong with it.
  if (json.is_number_integer()) return ReadInt64(json, path);
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (const std::optional<std::int64_t> bytes = ParseByteSize(text)) return *bytes;
  return MustBe(path, ExpectedByteSize(text) + " or a whole number of bytes", json);
}

absl::StatusOr<ParameterValue> ReadScalar(const Json& json, const std::string& path) {
  ParameterValue value;
  if (Form<ParameterValue>::Read(json, value).ok()) return value;
  return MustBe(path, "a number, text, true or false", json);
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const Json& json, const std::string& path) {
  return ReadList<std::string>(json, path, &ReadText);
}

absl::StatusOr<std::map<std::string, std::string>> ReadTextMap(const Json& json,
                                                               const std::string& path) {
  if (!json.is_object()) return MustBe(path, "a mapping of names to text", json);
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : json.items()) {
    VERNIER_ASSIGN_OR_RETURN(texts[key], ReadText(value, fmt::format("{}.{}", path, key)));
  }
  return texts;
}

}  // namespace vernier::codec
