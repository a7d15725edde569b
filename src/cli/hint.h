#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vernier::cli {

// The status with a sentence on what to do next. An existing hint is kept: the innermost caller knows most.
absl::Status WithHint(absl::Status status, std::string_view hint);

// What to do about the status: the hint given with WithHint, otherwise one for its reason, otherwise empty.
std::string HintOf(const absl::Status& status);

}  // namespace vernier::cli
