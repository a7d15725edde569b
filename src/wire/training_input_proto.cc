#include "src/wire/training_input_proto.h"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "src/core/check.h"
#include "src/core/training_input_fields.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"

namespace vernier::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The message's field of that JSON name. Messages and structs have the same fields; the test of this file sees to it.
const FieldDescriptor& FieldOf(const Message& message, const char* key) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByCamelcaseName(key);
  VERNIER_CHECK(field != nullptr, "a field of the training input is missing in its message");
  return *field;
}

// Fills a message, through reflection, from the fields that a Describe names: a new field of the struct needs no line
// here.
class MessageWriter {
 public:
  explicit MessageWriter(Message& message)
      : message_(message), reflection_(*message.GetReflection()) {}

  template <typename T>
  void operator()(const char* key, const T& value) {
    // Fields that have their default are not written, as in the JSON form. Of an optional, T{} is "not set", so Write
    // may look inside.
    if (!(value == T{})) Write(&FieldOf(message_, key), value);
  }

 private:
  void Write(const FieldDescriptor* field, const std::string& value) {
    reflection_.SetString(&message_, field, ValidUtf8(value));
  }
  void Write(const FieldDescriptor* field, bool value) {
    reflection_.SetBool(&message_, field, value);
  }
  void Write(const FieldDescriptor* field, std::int32_t value) {
    reflection_.SetInt32(&message_, field, value);
  }
  void Write(const FieldDescriptor* field, std::int64_t value) {
    reflection_.SetInt64(&message_, field, value);
  }
  void Write(const FieldDescriptor* field, const std::optional<double>& value) {
    reflection_.SetDouble(&message_, field, *value);
  }
  void Write(const FieldDescriptor* field, const std::optional<absl::Duration>& value) {
    auto* const duration =
        static_cast<google::protobuf::Duration*>(reflection_.MutableMessage(&message_, field));
    EncodeDuration(*value, duration);
  }
  void Write(const FieldDescriptor* field, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      reflection_.AddString(&message_, field, ValidUtf8(value));
    }
  }
  void Write(const FieldDescriptor* field, const std::vector<double>& values) {
    for (const double value : values) reflection_.AddDouble(&message_, field, value);
  }
  // Less special than the overloads above, so that numbers and durations are not taken for nested messages.
  template <typename T>
  void Write(const FieldDescriptor* field, const std::optional<T>& value) {
    MessageWriter writer(*reflection_.MutableMessage(&message_, field));
    Describe(writer, *value);
  }
  template <typename T>
  void Write(const FieldDescriptor* field, const std::vector<T>& values) {
    for (const T& value : values) {
      MessageWriter writer(*reflection_.AddMessage(&message_, field));
      Describe(writer, value);
    }
  }

  Message& message_;
  const google::protobuf::Reflection& reflection_;
};

// Fills the struct from the message. Presence matters only where the struct has an optional.
class MessageReader {
 public:
  explicit MessageReader(const Message& message)
      : message_(message), reflection_(*message.GetReflection()) {}

  template <typename T>
  void operator()(const char* key, T& value) {
    Read(&FieldOf(message_, key), value);
  }

 private:
  void Read(const FieldDescriptor* field, std::string& value) {
    value = reflection_.GetString(message_, field);
  }
  void Read(const FieldDescriptor* field, bool& value) {
    value = reflection_.GetBool(message_, field);
  }
  void Read(const FieldDescriptor* field, std::int32_t& value) {
    value = reflection_.GetInt32(message_, field);
  }
  void Read(const FieldDescriptor* field, std::int64_t& value) {
    value = reflection_.GetInt64(message_, field);
  }
  void Read(const FieldDescriptor* field, std::optional<double>& value) {
    if (reflection_.HasField(message_, field)) value = reflection_.GetDouble(message_, field);
  }
  void Read(const FieldDescriptor* field, std::optional<absl::Duration>& value) {
    if (!reflection_.HasField(message_, field)) return;
    value = DecodeDuration(
        static_cast<const google::protobuf::Duration&>(reflection_.GetMessage(message_, field)));
  }
  void Read(const FieldDescriptor* field, std::vector<std::string>& values) {
    for (int i = 0; i < reflection_.FieldSize(message_, field); ++i) {
      values.push_back(reflection_.GetRepeatedString(message_, field, i));
    }
  }
  void Read(const FieldDescriptor* field, std::vector<double>& values) {
    for (int i = 0; i < reflection_.FieldSize(message_, field); ++i) {
      values.push_back(reflection_.GetRepeatedDouble(message_, field, i));
    }
  }
  template <typename T>
  void Read(const FieldDescriptor* field, std::optional<T>& value) {
    if (!reflection_.HasField(message_, field)) return;
    MessageReader reader(reflection_.GetMessage(message_, field));
    Describe(reader, value.emplace());
  }
  template <typename T>
  void Read(const FieldDescriptor* field, std::vector<T>& values) {
    for (int i = 0; i < reflection_.FieldSize(message_, field); ++i) {
      MessageReader reader(reflection_.GetRepeatedMessage(message_, field, i));
      Describe(reader, values.emplace_back());
    }
  }

  const Message& message_;
  const google::protobuf::Reflection& reflection_;
};

}  // namespace

void EncodeTrainingInput(const TrainingInput& input, v1::TrainingInput* out) {
  MessageWriter writer(*out);
  Describe(writer, input);
}

TrainingInput DecodeTrainingInput(const v1::TrainingInput& input) {
  TrainingInput decoded;
  MessageReader reader(input);
  Describe(reader, decoded);
  return decoded;
}

}  // namespace vernier::wire
