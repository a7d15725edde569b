#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace vernier::client {

// The token that a server at the target may ask for, as this user would know it: that of $VERNIER_TOKEN_FILE, else the user's
// own if the target is of this host. Empty: there is none. Errors: as base::ReadToken, of a file that is there.
absl::StatusOr<std::string> FindToken(const std::string& target);

}  // namespace vernier::client
