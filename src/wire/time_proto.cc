#include "src/wire/time_proto.h"

#include <algorithm>
#include <cstdint>

namespace vernier::wire {
namespace {

// The bounds that google/protobuf/timestamp.proto and duration.proto give.
constexpr std::int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z
constexpr std::int64_t kMaxDuration = 315'576'000'000;  // Seconds; about 10,000 years.

}  // namespace

void EncodeTime(absl::Time time, google::protobuf::Timestamp* out) {
  // Infinite times become the nearest end, too.
  time = std::clamp(time, absl::FromUnixSeconds(kFirstSecond), absl::FromUnixSeconds(kLastSecond));
  const std::int64_t seconds = absl::ToUnixSeconds(time);  // Rounds down, as the message wants.
  out->set_seconds(seconds);
  out->set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

// Clamped as when encoding: a message from outside may hold anything.
absl::Time DecodeTime(const google::protobuf::Timestamp& time) {
  const std::int64_t seconds = std::clamp(time.seconds(), kFirstSecond, kLastSecond);
  return absl::FromUnixSeconds(seconds) + absl::Nanoseconds(time.nanos());
}

// The rest has the sign of the duration, as the message demands: -1.5 s is -1 s and -500 ms.
void EncodeDuration(absl::Duration duration, google::protobuf::Duration* out) {
  duration = std::clamp(duration, -absl::Seconds(kMaxDuration), absl::Seconds(kMaxDuration));
  absl::Duration rest;
  const std::int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &rest);
  out->set_seconds(seconds);
  out->set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
}

absl::Duration DecodeDuration(const google::protobuf::Duration& duration) {
  const std::int64_t seconds = std::clamp(duration.seconds(), -kMaxDuration, kMaxDuration);
  return absl::Seconds(seconds) + absl::Nanoseconds(duration.nanos());
}

}  // namespace vernier::wire
