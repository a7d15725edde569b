#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/service/attempt_tokens.h"
#include "vernier/engine.h"

// How the programs of attempts reach the server that runs them: a socket for its owner only, which stays where it is when
// the server is started again.
namespace vernier::app {

// The secret of the store's tokens, kept in its folder of runs: both are made on the first call. For the owner only.
// Unavailable: it can be neither read nor written.
absl::StatusOr<std::string> LoadTokenSecret(const std::string& runs_directory);

// The path of the socket: in the folder of runs, or in a folder of the user's below the system's temporary one where that
// path would be too long. Its folder is there on return, for its owner only, and holds nothing else.
// Unavailable: the folder cannot be made.  PermissionDenied: another user has made it.
absl::StatusOr<std::string> PrepareReportSocket(const std::string& runs_directory);

// What the programs of an attempt are given to report with. `address`: a gRPC target. Where programs would not find
// `vernier`, and their job sets no PATH of its own, they get one that has the folder of this program at its end.
ReportingAccess AccessOf(const std::string& address,
                         const service::AttemptTokens& tokens,
                         const StudySpec& spec,
                         const AttemptId& id);

}  // namespace vernier::app
