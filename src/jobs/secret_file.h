#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "vernier/core/training_job.h"

namespace vernier::jobs {

// The file on this host that has the value of a secret. `directory` holds those that jobs name; empty: there is none.
// InvalidArgument: that folder is needed, or HOME, and is not there.
absl::StatusOr<std::string> PathOfSecret(const SecretSource& secret, const std::string& directory);

}  // namespace vernier::jobs
