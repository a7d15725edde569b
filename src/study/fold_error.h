#pragma once

#include <utility>

#include "src/core/status.h"
#include "vernier/core/event.h"

namespace vernier::study {

// DataLoss: the log is damaged at this event.
template <typename... Args>
absl::Status Damaged(const Event& event, fmt::format_string<Args...> format, Args&&... args) {
  return DataLoss(
      "event {}: {}", event.seq.value(), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace vernier::study
