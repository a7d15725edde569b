#pragma once

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace vernier::cli {

// A message as JSON: field names and order of the proto; integers as numbers (protobuf's own mapping quotes 64-bit
// ones); parameters as plain values; times in RFC 3339 in UTC; durations as "90s"; NaN and infinities as "NaN",
// "Infinity", "-Infinity". Fields without presence are always there; messages and optional fields only if set;
// unspecified enums are omitted.
nlohmann::ordered_json ProtoToJson(const google::protobuf::Message& message);
// A number in that form, also if it is NaN or infinite.
nlohmann::ordered_json NumberToJson(double number);

}  // namespace vernier::cli
