#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "src/core/status.h"
#include "src/core/utf8.h"
#include "vernier/core/error.h"
#include "vernier/core/ids.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// The stored form of every type that events are made of, one for both directions: a struct is described once, by
//   void Describe(auto& visit, Is<Lease> auto& lease) { visit("holder", lease.holder); … }
// and read and written from that description, so that the two cannot disagree.
//
// What is empty is left out: unset optionals, empty text, lists and maps, a failure class of none. What is missing keeps
// its default. Errors of Read are ".path.of.field: what is wrong", composed on the way out.
namespace vernier::codec {

using Json = nlohmann::ordered_json;

template <typename T, typename U>
concept Is = std::is_same_v<std::remove_const_t<T>, U>;

// What was found, cut to a length that fits a message.
std::string Excerpt(const Json& json);
absl::Status WrongType(std::string_view expected, const Json& found);
// The status with its path made longer at the front.
absl::Status Within(std::string_view outer, const absl::Status& status);

template <typename T>
struct Form;

// --- scalars ---
template <>
struct Form<std::int64_t> {
  static Json Write(std::int64_t value) { return value; }
  static absl::Status Read(const Json& json, std::int64_t& value);
};
template <>
struct Form<std::int32_t> {
  static Json Write(std::int32_t value) { return value; }
  static absl::Status Read(const Json& json, std::int32_t& value);
};
template <>
struct Form<std::uint64_t> {
  static Json Write(std::uint64_t value) { return value; }
  static absl::Status Read(const Json& json, std::uint64_t& value);
};
template <>
struct Form<double> {
  static Json Write(double value);
  static absl::Status Read(const Json& json, double& value);
};
template <>
struct Form<bool> {
  static Json Write(bool value) { return value; }
  static absl::Status Read(const Json& json, bool& value);
};
template <>
struct Form<std::string> {
  static Json Write(const std::string& value) { return ToValidUtf8(value); }
  static absl::Status Read(const Json& json, std::string& value);
};
template <>
struct Form<ParameterValue> {
  static Json Write(const ParameterValue& value);
  static absl::Status Read(const Json& json, ParameterValue& value);
};
template <>
struct Form<absl::Time> {
  static Json Write(absl::Time value);
  static absl::Status Read(const Json& json, absl::Time& value);
};
// In whole nanoseconds.
template <>
struct Form<absl::Duration> {
  static Json Write(absl::Duration value) { return absl::ToInt64Nanoseconds(value); }
  static absl::Status Read(const Json& json, absl::Duration& value);
};
template <>
struct Form<StudySpec> {
  static Json Write(const StudySpec& value);
  static absl::Status Read(const Json& json, StudySpec& value);
};
template <typename Tag>
struct Form<Id<Tag>> {
  static Json Write(Id<Tag> value) { return value.value(); }
  static absl::Status Read(const Json& json, Id<Tag>& value) {
    std::int64_t number = 0;
    VERNIER_RETURN_IF_ERROR(Form<std::int64_t>::Read(json, number));
    value = Id<Tag>(number);
    return absl::OkStatus();
  }
};

// --- enums, by name ---
inline std::string_view NameOf(StudyState value) { return StudyStateName(value); }
inline std::string_view NameOf(TrialState value) { return TrialStateName(value); }
inline std::string_view NameOf(AttemptState value) { return AttemptStateName(value); }
inline std::string_view NameOf(FailureClass value) { return FailureClassName(value); }
constexpr StudyState LastOf(StudyState) { return StudyState::kFailed; }
constexpr TrialState LastOf(TrialState) { return TrialState::kCancelled; }
constexpr AttemptState LastOf(AttemptState) { return AttemptState::kLost; }
constexpr FailureClass LastOf(FailureClass) { return FailureClass::kDiverged; }

template <typename E>
requires std::is_enum_v<E>
struct Form<E> {
  static Json Write(E value) { return std::string(NameOf(value)); }
  static absl::Status Read(const Json& json, E& value) {
    if (!json.is_string()) return WrongType("a name", json);
    for (int i = 0; i <= static_cast<int>(LastOf(E{})); ++i) {
      value = static_cast<E>(i);
      if (json.get_ref<const std::string&>() == NameOf(value)) return absl::OkStatus();
    }
    return WrongType("a known name", json);
  }
};

// --- containers ---
template <typename T>
struct Form<std::optional<T>> {
  static Json Write(const std::optional<T>& value) { return Form<T>::Write(*value); }
  static absl::Status Read(const Json& json, std::optional<T>& value) {
    return Form<T>::Read(json, value.emplace());
  }
};
template <typename T>
struct Form<std::vector<T>> {
  static Json Write(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(Form<T>::Write(value));
    return list;
  }
  static absl::Status Read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return WrongType("a list", json);
    values.assign(json.size(), T{});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const absl::Status status = Form<T>::Read(json[i], values[i]);
      if (!status.ok()) return Within(fmt::format("[{}]", i), status);
    }
    return absl::OkStatus();
  }
};
template <typename T>
struct Form<std::map<std::string, T>> {
  static Json Write(const std::map<std::string, T>& values) {
    Json object = Json::object();
    // Added, not looked for: that would be quadratic in the number of keys.
    auto& members = object.get_ref<Json::object_t&>();
    members.reserve(values.size());
    for (const auto& [key, value] : values) {
      members.emplace_back(ToValidUtf8(key), Form<T>::Write(value));
    }
    return object;
  }
  static absl::Status Read(const Json& json, std::map<std::string, T>& values) {
    if (!json.is_object()) return WrongType("an object", json);
    values.clear();
    for (const auto& [key, value] : json.items()) {
      const absl::Status status = Form<T>::Read(value, values[key]);
      if (!status.ok()) return Within("." + key, status);
    }
    return absl::OkStatus();
  }
};

template <typename T>
bool IsEmpty(const T&) {
  return false;
}
inline bool IsEmpty(const std::string& value) { return value.empty(); }
inline bool IsEmpty(FailureClass value) { return value == FailureClass::kNone; }
template <typename T>
bool IsEmpty(const std::optional<T>& value) {
  return !value.has_value();
}
template <typename T>
bool IsEmpty(const std::vector<T>& values) {
  return values.empty();
}
template <typename Key, typename T>
bool IsEmpty(const std::map<Key, T>& values) {
  return values.empty();
}

// --- structs, by their description ---
class FieldWriter {
 public:
  explicit FieldWriter(Json::object_t& object) : object_(object) {}
  template <typename T>
  void operator()(const char* key, const T& value) {
    if (!IsEmpty(value)) Add(key, value);
  }
  // Left out also where it has its default, as in everything written before there was such a field.
  template <typename T>
  void IfSet(const char* key, const T& value) {
    if (value != T{}) Add(key, value);
  }

 private:
  // Keys differ: none needs to be looked for.
  template <typename T>
  void Add(const char* key, const T& value) {
    object_.emplace_back(key, Form<T>::Write(value));
  }

  Json::object_t& object_;
};

class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}
  template <typename T>
  void operator()(const char* key, T& value) {
    if (!status_.ok()) return;
    const auto it = object_.find(key);
    if (it == object_.end() || it->is_null()) return;
    const absl::Status status = Form<T>::Read(*it, value);
    if (!status.ok()) status_ = Within(std::string(".") + key, status);
  }
  template <typename T>
  void IfSet(const char* key, T& value) {
    (*this)(key, value);
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json& object_;
  absl::Status status_;
};

template <typename T>
struct DescribedForm {
  static constexpr std::size_t kFields = 24;  // As many as most have at most.
  static Json Write(const T& value) {
    Json object = Json::object();
    auto& fields = object.get_ref<Json::object_t&>();
    fields.reserve(kFields);
    FieldWriter visit(fields);
    Describe(visit, value);
    return object;
  }
  static absl::Status Read(const Json& json, T& value) {
    if (!json.is_object()) return WrongType("an object", json);
    FieldReader visit(json);
    Describe(visit, value);
    return visit.status();
  }
};

}  // namespace vernier::codec
