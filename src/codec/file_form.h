#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/codec/form.h"
#include "src/codec/mapping.h"
#include "src/codec/study_file.h"

// The form of definitions in files that people write, one for both directions: a mapping is described once, by
//   void DescribeFile(auto& visit, Is<Budget> auto& budget) { visit("trials", budget.trials); … }
// Which keys it may have, how they are read and how they are written follows from that.
//
// An empty value is not written (a form may say with IsEmpty which values are), unless it is visited as Always or
// Required; one that is visited with Unless is written if it differs from its usual value. A missing key keeps its
// default, unless it is Required.
// Errors are FieldErrors with the whole path; src/codec/form.h is the same for what the log stores.
namespace vernier::codec {

// Where something was read, for its errors.
struct FilePlace {
  std::string path;
  UnknownKeys unknown_keys = UnknownKeys::kRefuse;
};

template <typename T>
struct FileForm;

// --- scalars, and lists and maps of text: as mapping.h reads them ---
template <typename T, absl::StatusOr<T> (*kRead)(const Json&, const std::string&)>
struct ReadForm {
  static Json Write(const T& value) { return value; }
  static absl::Status Read(const Json& json, const FilePlace& place, T& value) {
    VERNIER_ASSIGN_OR_RETURN(value, kRead(json, place.path));
    return absl::OkStatus();
  }
};
template <>
struct FileForm<std::string> : ReadForm<std::string, &ReadText> {};
template <>
struct FileForm<double> : ReadForm<double, &ReadNumber> {};
template <>
struct FileForm<std::int64_t> : ReadForm<std::int64_t, &ReadInt64> {};
template <>
struct FileForm<std::int32_t> : ReadForm<std::int32_t, &ReadInt32> {};
template <>
struct FileForm<std::uint64_t> : ReadForm<std::uint64_t, &ReadUint64> {};
template <>
struct FileForm<bool> : ReadForm<bool, &ReadBool> {};
template <>
struct FileForm<std::vector<std::string>> : ReadForm<std::vector<std::string>, &ReadTexts> {};
template <>
struct FileForm<std::map<std::string, std::string>>
    : ReadForm<std::map<std::string, std::string>, &ReadTextMap> {};
template <>
struct FileForm<absl::Duration> {
  static Json Write(absl::Duration value) { return codec::FormatDuration(value); }
  static absl::Status Read(const Json& json, const FilePlace& place, absl::Duration& value) {
    VERNIER_ASSIGN_OR_RETURN(value, ReadDuration(json, place.path));
    return absl::OkStatus();
  }
};
template <typename T>
struct FileForm<std::optional<T>> {
  static Json Write(const std::optional<T>& value) { return FileForm<T>::Write(*value); }
  static absl::Status Read(const Json& json, const FilePlace& place, std::optional<T>& value) {
    return FileForm<T>::Read(json, place, value.emplace());
  }
};

// --- mappings, by their description: each of these visits one ---
// What a key is read and written as, unless its type says so.
template <typename T>
struct UsualForm : FileForm<T> {};

class FileKeys {
 public:
  template <typename T, typename F = UsualForm<T>>
  void operator()(const char* key, const T& /*value*/, F /*form*/ = {}) {
    keys_.push_back(key);
  }
  template <typename T, typename F = UsualForm<T>>
  void Always(const char* key, const T& /*value*/, F /*form*/ = {}) {
    keys_.push_back(key);
  }
  template <typename T, typename F = UsualForm<T>>
  void Required(const char* key, const T& /*value*/, F /*form*/ = {}) {
    keys_.push_back(key);
  }
  template <typename T, typename F = UsualForm<T>>
  void Unless(const std::type_identity_t<T>& /*usual*/,
              const char* key,
              const T& /*value*/,
              F /*form*/ = {}) {
    keys_.push_back(key);
  }
  // Not for people: who writes it is a program of ours.
  template <typename T>
  void Internal(const char* /*key*/, const T& /*value*/) {}

  const std::vector<const char*>& keys() const { return keys_; }

 private:
  std::vector<const char*> keys_;
};

class FileReader {
 public:
  explicit FileReader(const Mapping& mapping) : mapping_(mapping) {}
  template <typename T, typename F = UsualForm<T>>
  void operator()(const char* key, T& value, F /*form*/ = {}) {
    const Json* const json = status_.ok() ? mapping_.Find(key) : nullptr;
    if (json == nullptr) return;
    status_ = F::Read(*json, {mapping_.PathOf(key), mapping_.unknown_keys()}, value);
  }
  template <typename T, typename F = UsualForm<T>>
  void Always(const char* key, T& value, F form = {}) {
    (*this)(key, value, form);
  }
  template <typename T, typename F = UsualForm<T>>
  void Required(const char* key, T& value, F form = {}) {
    if (status_.ok()) status_ = mapping_.Require(key).status();
    (*this)(key, value, form);
  }
  template <typename T, typename F = UsualForm<T>>
  void Unless(const std::type_identity_t<T>& /*usual*/, const char* key, T& value, F form = {}) {
    (*this)(key, value, form);
  }
  template <typename T>
  void Internal(const char* key, T& value) {
    (*this)(key, value);
  }
  const absl::Status& status() const { return status_; }

 protected:
  const Mapping& mapping_;
  absl::Status status_;
};

class FileWriter {
 public:
  explicit FileWriter(Json& object) : object_(object) {}
  template <typename T, typename F = UsualForm<T>>
  void operator()(const char* key, const T& value, F form = {}) {
    if constexpr (requires { F::IsEmpty(value); }) {
      if (F::IsEmpty(value)) return;
    }
    if (!codec::IsEmpty(value)) Always(key, value, form);
  }
  template <typename T, typename F = UsualForm<T>>
  void Always(const char* key, const T& value, F /*form*/ = {}) {
    object_[key] = F::Write(value);
  }
  template <typename T, typename F = UsualForm<T>>
  void Required(const char* key, const T& value, F form = {}) {
    Always(key, value, form);
  }
  template <typename T, typename F = UsualForm<T>>
  void Unless(const std::type_identity_t<T>& usual, const char* key, const T& value, F form = {}) {
    if (value != usual) Always(key, value, form);
  }
  template <typename T>
  void Internal(const char* key, const T& value) {
    (*this)(key, value);
  }

 protected:
  Json& object_;
};

// Form of a mapping that `Description::Describe(visit, value)` describes. `value` may be a part of the definition, whose
// other keys stand elsewhere.
template <typename Description>
struct PartForm {
  static Json Write(const auto& value) {
    Json object = Json::object();
    FileWriter visit(object);
    Description::Describe(visit, value);
    return object;
  }
  static absl::Status Read(const Json& json, const FilePlace& place, auto& value) {
    FileKeys keys;
    Description::Describe(keys, value);
    VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                             Mapping::Open(json, place.path, keys.keys(), place.unknown_keys));
    FileReader visit(mapping);
    Description::Describe(visit, value);
    return visit.status();
  }
};

// Form of a type that DescribeFile describes.
template <typename T>
struct DescribedFileForm : PartForm<DescribedFileForm<T>> {
  static void Describe(auto& visit, auto& value) { DescribeFile(visit, value); }
};

}  // namespace vernier::codec
