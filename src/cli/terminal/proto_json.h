#pragma once

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace vernier::cli {

// The message as JSON for people and their programs: the proto's field names in their order; integers are numbers (the
// standard mapping quotes 64-bit ones); a parameter's value is the plain value; times are RFC 3339 in UTC, durations
// "90s"; NaN and infinities are "NaN", "Infinity", "-Infinity". Fields without presence are always there; messages and
// optional fields only where set; enums that are unspecified are left out.
nlohmann::ordered_json ProtoToJson(const google::protobuf::Message& message);

}  // namespace vernier::cli
