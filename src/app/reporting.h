#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/service/attempt_tokens.h"
#include "vernier/engine.h"

// Access of programs of attempts to the server that runs them: a socket for its owner only, at a path that stays the
// same when the server is restarted.
namespace vernier::app {

// The secret of the store's tokens, stored in its folder of runs; both are made on the first call. For the owner only.
// Unavailable: it can be neither read nor written.
absl::StatusOr<std::string> LoadTokenSecret(const std::string& runs_directory);

// The path of the socket: in the folder of runs, or below /tmp if that path is too long. Its folder exists on return,
// is for its owner only, and holds nothing else.
// Unavailable: the folder cannot be made.  PermissionDenied: another user has made it.
absl::StatusOr<std::string> PrepareReportSocket(const std::string& runs_directory);

// The variables by which programs of an attempt report. `address`: a gRPC target. If programs would not find `vernier`,
// and their job sets no PATH, they get a PATH that ends with the folder of this program.
ReportingAccess AccessOf(const std::string& address,
                         const service::AttemptTokens& tokens,
                         const StudySpec& spec,
                         const AttemptId& id);

}  // namespace vernier::app
