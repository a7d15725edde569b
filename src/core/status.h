#pragma once

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "vernier/core/error.h"

// Statuses with formatted messages: NotFound("no study has the id {}", id). A message names the thing, the value and
// the bound, in lower case and without a full stop.
namespace vernier {

#define VERNIER_DEFINE_STATUS_(Name)                                            \
  template <typename... Args>                                                   \
  absl::Status Name(fmt::format_string<Args...> format, Args&&... args) {       \
    return absl::Name##Error(fmt::format(format, std::forward<Args>(args)...)); \
  }
VERNIER_DEFINE_STATUS_(Aborted)
VERNIER_DEFINE_STATUS_(AlreadyExists)
VERNIER_DEFINE_STATUS_(Cancelled)
VERNIER_DEFINE_STATUS_(DataLoss)
VERNIER_DEFINE_STATUS_(DeadlineExceeded)
VERNIER_DEFINE_STATUS_(FailedPrecondition)
VERNIER_DEFINE_STATUS_(Internal)
VERNIER_DEFINE_STATUS_(InvalidArgument)
VERNIER_DEFINE_STATUS_(NotFound)
VERNIER_DEFINE_STATUS_(OutOfRange)
VERNIER_DEFINE_STATUS_(PermissionDenied)
VERNIER_DEFINE_STATUS_(ResourceExhausted)
VERNIER_DEFINE_STATUS_(Unavailable)
VERNIER_DEFINE_STATUS_(Unimplemented)
#undef VERNIER_DEFINE_STATUS_

}  // namespace vernier
