#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace vernier::codec {

// What an unquoted scalar means by YAML's core schema: null, true, false, a number, or else text. `1e-5` is a number,
// `on`, `off`, `yes` and `no` are text.
nlohmann::ordered_json ResolvePlainScalar(std::string_view text);

// One YAML document as JSON. Aliases are expanded.
// InvalidArgument: a FieldError whose path is the line: syntax, duplicate keys, keys that are no text, several documents,
// unknown tags, and what is too large or too deep for a file that somebody wrote. `what` is the path of what has no line.
absl::StatusOr<nlohmann::ordered_json> ReadYaml(std::string_view text,
                                                std::string_view what = "study file");

}  // namespace vernier::codec
