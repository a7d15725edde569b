#pragma once

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

// The token that calls over TCP carry: one for each user of the host, in a file that no other user can read.
namespace vernier::base {

// The folder of a user's own files: vernier under $XDG_STATE_HOME, or under ~/.local/state.
std::filesystem::path StateFolder();

// $VERNIER_TOKEN_FILE, or the file "token" in StateFolder().
std::string TokenPath();

// Reads the token from the file.
// NotFound: there is no file.  PermissionDenied: other users can read it.  InvalidArgument: it does not hold 32 to 4096
// characters without spaces.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// As ReadToken, and makes the file if it is missing, with its folders, modes 0600 and 0700.
absl::StatusOr<std::string> LoadOrMakeToken(const std::string& path);

}  // namespace vernier::base
