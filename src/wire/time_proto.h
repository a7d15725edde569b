#pragma once

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

// Times and durations, to the nanosecond. What lies outside the range of the message is brought to its nearest end.
namespace vernier::wire {

void EncodeTime(absl::Time time, google::protobuf::Timestamp* out);
absl::Time DecodeTime(const google::protobuf::Timestamp& time);

void EncodeDuration(absl::Duration duration, google::protobuf::Duration* out);
absl::Duration DecodeDuration(const google::protobuf::Duration& duration);

}  // namespace vernier::wire
