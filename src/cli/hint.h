#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vernier::cli {

// The same status with a sentence on what to do next. A status that has one keeps it.
absl::Status WithHint(absl::Status status, std::string_view hint);

// What to do about the status: the sentence given to WithHint, else one that its reason or code suggests, else empty.
std::string HintOf(const absl::Status& status);

}  // namespace vernier::cli
