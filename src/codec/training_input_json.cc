#include "src/codec/training_input_json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/codec/mapping.h"
#include "src/core/nearest.h"
#include "src/core/training_input_fields.h"
#include "src/core/training_job_validation.h"
#include "vernier/core/limits.h"

namespace vernier::codec {
namespace {

// --- reading ---

// One overload for each type that a field may have; Describe finds the right one.
absl::Status ReadValue(const Json& json, const std::string& path, UnknownKeys, std::string& value) {
  VERNIER_ASSIGN_OR_RETURN(value, ReadText(json, path));
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, UnknownKeys, double& value) {
  VERNIER_ASSIGN_OR_RETURN(value, ReadNumber(json, path));
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json, const std::string& path, UnknownKeys, bool& value) {
  VERNIER_ASSIGN_OR_RETURN(value, ReadBool(json, path));
  return absl::OkStatus();
}

absl::Status ReadValue(const Json& json,
                       const std::string& path,
                       UnknownKeys,
                       std::int32_t& value) {
  const absl::StatusOr<std::int32_t> read = ReadInt32(json, path);
  if (!read.ok()) {
    // Says the range of the field, and not that of the type.
    const std::int32_t most =
        path.ends_with(".priority") ? limits::kPriority : std::numeric_limits<std::int32_t>::max();
    return MustBe(path, fmt::format("a whole number from 0 to {}", most), json);
  }
  value = *read;
  return absl::OkStatus();
}

// The API's 64 bits come as text too, since JSON's numbers have only 53.
absl::Status ReadValue(const Json& json,
                       const std::string& path,
                       UnknownKeys,
                       std::int64_t& value) {
  if (json.is_string() && absl::SimpleAtoi(json.get_ref<const std::string&>(), &value)) {
    return absl::OkStatus();
  }
  VERNIER_ASSIGN_OR_RETURN(value, ReadInt64(json, path));
  return absl::OkStatus();
}

// "7200s", "0.5s": seconds and nothing else.
absl::Status ReadValue(const Json& json,
                       const std::string& path,
                       UnknownKeys,
                       absl::Duration& value) {
  constexpr std::string_view kExpected = "seconds such as 7200s";
  if (!json.is_string()) return MustBe(path, kExpected, json);
  const std::string& text = json.get_ref<const std::string&>();
  // ReadDuration takes more than the API does, such as 2h.
  const bool plain = text.size() > 1 && text.find_first_not_of("0123456789.") == text.size() - 1 &&
                     text.back() == 's';
  const absl::StatusOr<absl::Duration> duration = ReadDuration(json, path);
  if (!plain || !duration.ok()) return MustBe(path, kExpected, json);
  value = *duration;
  return absl::OkStatus();
}

// Declared here, since objects and lists contain each other.
template <typename T>
absl::Status ReadObject(const Json& json, const std::string& path, UnknownKeys unknown, T& value);

template <typename T>
requires std::is_class_v<T> absl::Status ReadValue(const Json& json,
                                                   const std::string& path,
                                                   UnknownKeys unknown,
                                                   T& value) {
  return ReadObject(json, path, unknown, value);
}

template <typename T>
absl::Status ReadValue(const Json& json,
                       const std::string& path,
                       UnknownKeys unknown,
                       std::optional<T>& value) {
  // A field that is there sets the optional, even if it is empty.
  return ReadValue(json, path, unknown, value.emplace());
}

template <typename T>
absl::Status ReadValue(const Json& json,
                       const std::string& path,
                       UnknownKeys unknown,
                       std::vector<T>& values) {
  if (!json.is_array()) return MustBe(path, "a list", json);
  values.assign(json.size(), T{});
  for (std::size_t i = 0; i < values.size(); ++i) {
    VERNIER_RETURN_IF_ERROR(ReadValue(json[i], fmt::format("{}[{}]", path, i), unknown, values[i]));
  }
  return absl::OkStatus();
}

// Reads the fields that a Describe names, and learns their names on the way.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const std::string& path, UnknownKeys unknown)
      : object_(object), path_(path), unknown_(unknown) {}

  template <typename T>
  void operator()(const char* key, T& value) {
    // Also after an error: Finish needs all the names.
    known_.emplace_back(key);
    const auto it = object_.find(key);
    // null counts as left out, as in a study file.
    if (!status_.ok() || it == object_.end() || it->is_null()) return;
    status_ = ReadValue(*it, fmt::format("{}.{}", path_, key), unknown_, value);
  }

  // Once all fields were visited.
  absl::Status Finish() const {
    VERNIER_RETURN_IF_ERROR(status_);
    if (unknown_ == UnknownKeys::kIgnore) return absl::OkStatus();
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      return FieldError(fmt::format("{}.{}", path_, key),
                        "unknown key" + NearestHint(key, known_, kListedKeys));
    }
    return absl::OkStatus();
  }

 private:
  const Json& object_;
  const std::string& path_;
  const UnknownKeys unknown_;
  std::vector<std::string> known_;
  absl::Status status_;
};

template <typename T>
absl::Status ReadObject(const Json& json, const std::string& path, UnknownKeys unknown, T& value) {
  if (!json.is_object()) return MustBe(path, "a mapping of keys to values", json);
  ObjectReader reader(json, path, unknown);
  Describe(reader, value);
  return reader.Finish();
}

// --- writing ---

// "parameterServerCount" is "parameter_server_count", as the API's proto has it.
std::string SnakeCase(std::string_view camel) {
  std::string snake;
  for (const char c : camel) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c))) snake += '_';
    snake += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return snake;
}

// Writes the fields that a Describe names and that were given.
class ObjectWriter {
 public:
  ObjectWriter(Json& object, FieldNames names) : object_(object), names_(names) {}

  template <typename T>
  void operator()(const char* key, const T& value) {
    // Only what was given, so that the job's environment shows what its user wrote.
    if (value == T{}) return;
    object_[names_ == FieldNames::kSnakeCase ? SnakeCase(key) : std::string(key)] = ToJson(value);
  }

 private:
  Json ToJson(const std::string& value) const { return value; }
  Json ToJson(double value) const { return value; }
  Json ToJson(bool value) const { return value; }
  Json ToJson(std::int32_t value) const { return value; }
  Json ToJson(std::int64_t value) const {
    // As protobuf writes 64 bits in JSON: TF_CONFIG was made that way.
    return names_ == FieldNames::kSnakeCase ? Json(std::to_string(value)) : Json(value);
  }
  Json ToJson(absl::Duration value) const {
    const auto [seconds, nanoseconds] =
        std::pair(absl::ToInt64Seconds(value), absl::ToInt64Nanoseconds(value % absl::Seconds(1)));
    if (nanoseconds == 0) return fmt::format("{}s", seconds);
    // Nine digits at most, without zeros at the end.
    std::string fraction = fmt::format("{:09}", nanoseconds);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fmt::format("{}.{}s", seconds, fraction);
  }
  template <typename T>
  Json ToJson(const std::optional<T>& value) const {
    return ToJson(*value);
  }
  template <typename T>
  Json ToJson(const std::vector<T>& values) const {
    Json list = Json::array();
    for (const T& value : values) list.push_back(ToJson(value));
    return list;
  }
  template <typename T>
  requires std::is_class_v<T> Json ToJson(const T& value)
  const {
    Json object = Json::object();
    ObjectWriter writer(object, names_);
    Describe(writer, value);
    return object;
  }

  Json& object_;
  const FieldNames names_;
};

// Left out, they are 1. An input holds 0 for that, so whether 0 was written can only be seen here.
absl::Status CheckTrialCounts(const Json& json, const std::string& path) {
  const auto tuning = json.find("hyperparameters");
  if (tuning == json.end() || !tuning->is_object()) return absl::OkStatus();
  for (const char* const key : {"maxTrials", "maxParallelTrials"}) {
    const auto count = tuning->find(key);
    if (count == tuning->end() || *count != 0) continue;
    return FieldError(fmt::format("{}.hyperparameters.{}", path, key), "must be at least 1, got 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingInput> ReadTrainingInput(const nlohmann::ordered_json& json,
                                                const std::string& path,
                                                UnknownKeys unknown_keys) {
  TrainingInput input;
  VERNIER_RETURN_IF_ERROR(ReadObject(json, path, unknown_keys, input));
  VERNIER_RETURN_IF_ERROR(CheckTrialCounts(json, path));
  return input;
}

nlohmann::ordered_json TrainingInputToJson(const TrainingInput& input, FieldNames names) {
  Json object = Json::object();
  ObjectWriter writer(object, names);
  Describe(writer, input);
  return object;
}

}  // namespace vernier::codec
