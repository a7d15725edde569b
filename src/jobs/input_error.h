#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier::jobs {

// A FieldError at a field of the training input: that of "scaleTier" is at "trainingInput.scaleTier".
inline absl::Status InputError(std::string_view field, std::string_view message) {
  return FieldError(fmt::format("trainingInput.{}", field), message);
}

}  // namespace vernier::jobs
