#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace vernier::codec {

// A file that somebody wrote, in YAML or JSON, as one JSON document. `what` names it in errors: "study file".
// InvalidArgument: a FieldError at `what` or at a line: no UTF-8 text, too large, or as ReadYaml and ReadJson.
absl::StatusOr<nlohmann::ordered_json> ReadDocument(std::string_view text, std::string_view what);

}  // namespace vernier::codec
