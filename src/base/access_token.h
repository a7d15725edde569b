#pragma once

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

// The token that calls over TCP carry: one for each user of the host, in a file that nobody else can read.
namespace vernier::base {

// Where Vernier keeps what is a user's own: vernier under $XDG_STATE_HOME, or under ~/.local/state.
std::filesystem::path StateFolder();

// $VERNIER_TOKEN_FILE, or the file "token" in StateFolder().
std::string TokenPath();

// The token in the file.
// NotFound: there is none.  PermissionDenied: other users can read the file, too.  InvalidArgument: it does not hold 32 to
// 4096 characters without spaces.  Unavailable: it cannot be read.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// As ReadToken, and where there is no file, makes one, with its folders, mode 0600 and 0700.
absl::StatusOr<std::string> LoadOrMakeToken(const std::string& path);

}  // namespace vernier::base
