#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"

namespace vernier::jobs {

// The file on this host that holds the value of a secret. `directory` holds secrets that jobs refer to by name; empty:
// none.
// InvalidArgument: that folder, or HOME, is needed and not set.
absl::StatusOr<std::string> PathOfSecret(const SecretSource& secret, const std::string& directory);

}  // namespace vernier::jobs
