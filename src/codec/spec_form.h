#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "vernier/core/study.h"

namespace vernier::codec {

// What a user wrote is refused where it holds unknown keys; what a newer program stored is not.
enum class UnknownKeys { kRefuse, kIgnore };

// Words of the file.
inline constexpr std::string_view kNever = "never";  // lease.ttl
inline constexpr std::string_view kAsked = "asked";  // stopping.when
// The rule of a study with a job and one objective whose file names none.
inline constexpr std::string_view kAutomaticRule = "automatic";

// The definition in `document`, validated.  InvalidArgument: a FieldError.
absl::StatusOr<StudySpec> ReadSpec(const nlohmann::ordered_json& document,
                                   UnknownKeys unknown_keys);

}  // namespace vernier::codec
