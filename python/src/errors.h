#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vernier::python {

// Raises the exception that vernier._errors makes of the status, which must not be OK. Needs the GIL.
[[noreturn]] void Raise(const absl::Status& status);

// The value, or the exception.
template <typename T>
T ValueOrRaise(absl::StatusOr<T> result) {
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}

inline void OkOrRaise(const absl::Status& status) {
  if (!status.ok()) Raise(status);
}

}  // namespace vernier::python
