#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "src/codec/spec_form.h"
#include "vernier/core/space.h"

// Reading a study file: every reader takes the path of what it reads, for its errors. All errors are FieldErrors.
namespace vernier::codec {

using Json = nlohmann::ordered_json;

// FieldError "<path>: must be <expected>, got <found>".
absl::Status MustBe(std::string_view path, std::string_view expected, const Json& found);

// One mapping of the study file. Borrows the document.
class Mapping {
 public:
  // InvalidArgument: not a mapping, or, unless they are ignored, a key that is none of `known`.
  static absl::StatusOr<Mapping> Open(const Json& json,
                                      std::string path,
                                      const std::vector<const char*>& known,
                                      UnknownKeys unknown_keys = UnknownKeys::kRefuse);

  // The value of the key; null if the key is absent or its value is null.
  const Json* Find(std::string_view key) const;
  // As Find.  InvalidArgument: the key is missing.
  absl::StatusOr<const Json*> Require(std::string_view key) const;
  // "parameters.lr" + "float" = "parameters.lr.float".
  std::string PathOf(std::string_view key) const;
  const std::string& path() const { return path_; }
  UnknownKeys unknown_keys() const { return unknown_keys_; }

  // Sets `value`, which may be optional, if the key is there, with the reader for its type.
  template <typename T, typename Value>
  requires std::same_as<Value, T> || std::same_as<Value, std::optional<T>> absl::Status Read(
      std::string_view key,
      Value& value,
      absl::StatusOr<T> (*reader)(const Json&, const std::string& path))
  const {
    const Json* const json = Find(key);
    if (json == nullptr) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(value, reader(*json, PathOf(key)));
    return absl::OkStatus();
  }

 private:
  Mapping(const Json& json, std::string path, UnknownKeys unknown_keys)
      : json_(&json), path_(std::move(path)), unknown_keys_(unknown_keys) {}

  const Json* json_;  // Not owned; an object.
  std::string path_;
  UnknownKeys unknown_keys_;
};

absl::StatusOr<std::string> ReadText(const Json& json, const std::string& path);
absl::StatusOr<double> ReadNumber(const Json& json, const std::string& path);
absl::StatusOr<std::int64_t> ReadInt64(const Json& json, const std::string& path);
absl::StatusOr<std::int32_t> ReadInt32(const Json& json, const std::string& path);
absl::StatusOr<std::uint64_t> ReadUint64(const Json& json, const std::string& path);
absl::StatusOr<bool> ReadBool(const Json& json, const std::string& path);
// "90s", "1h30m".
absl::StatusOr<absl::Duration> ReadDuration(const Json& json, const std::string& path);
// 4096 or "4GiB".
absl::StatusOr<std::int64_t> ReadMemory(const Json& json, const std::string& path);
// A number, text, true or false.
absl::StatusOr<ParameterValue> ReadScalar(const Json& json, const std::string& path);
absl::StatusOr<std::vector<std::string>> ReadTexts(const Json& json, const std::string& path);
absl::StatusOr<std::map<std::string, std::string>> ReadTextMap(const Json& json,
                                                               const std::string& path);

// Reads a mapping whose keys `describe` names, each with where it goes and with the reader for its type:
//   ReadMapping(json, path, [&](auto& visit) { visit("cpus", host.cpus, &ReadCpus); … });
// It is called twice, the first time for the names alone.
template <typename Describe>
absl::Status ReadMapping(const Json& json, const std::string& path, Describe describe) {
  std::vector<const char*> keys;
  const auto name = [&](const char* key, const auto&, auto) { keys.push_back(key); };
  describe(name);
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping, Mapping::Open(json, path, keys));
  absl::Status status;
  const auto read = [&](const char* key, auto& value, auto reader) {
    if (status.ok()) status = mapping.Read(key, value, reader);
  };
  describe(read);
  return status;
}

template <typename T>
absl::StatusOr<std::vector<T>> ReadList(const Json& json,
                                        const std::string& path,
                                        absl::StatusOr<T> (*reader)(const Json&,
                                                                    const std::string& path)) {
  if (!json.is_array()) return MustBe(path, "a list", json);
  std::vector<T> values;
  for (std::size_t i = 0; i < json.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(T value, reader(json[i], path + "[" + std::to_string(i) + "]"));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace vernier::codec
