#pragma once

#include "absl/status/status.h"
#include "vernier/storage.h"

namespace vernier::testing {

// Writes what every stored database under tests/storage/data holds: studies with each kind of event and trials with every
// field. Must never change: databases of released schemas were made by it.
absl::Status WriteStoredContent(Storage& storage);

}  // namespace vernier::testing
