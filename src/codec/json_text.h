#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace vernier::codec {

// A JSON document that somebody wrote: duplicate keys, too many values and deep nesting are errors.
// InvalidArgument: a FieldError with path "line N", or `what`.
absl::StatusOr<nlohmann::ordered_json> ReadJson(std::string_view text,
                                                std::string_view what = "study file");

// A JSON document that we wrote.  DataLoss: it is none any more.
absl::StatusOr<nlohmann::ordered_json> ReadStoredJson(std::string_view text);
// On one line. Never throws, whatever bytes its texts hold.
std::string ToText(const nlohmann::ordered_json& json);

}  // namespace vernier::codec
