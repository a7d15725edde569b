#include "src/cli/exit_code.h"

#include "vernier/core/error.h"

namespace vernier::cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kAborted:
      return ExitCode::kUsage;
    case absl::StatusCode::kResourceExhausted:
      // Statuses for a spent budget carry a reason, those for a full disk none. The first is the caller's to solve, the
      // second means that the store cannot be written.
      return GetReason(status) == Reason::kNone ? ExitCode::kUnavailable : ExitCode::kUsage;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kTimeout;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kDenied;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kFailed;
  }
}

std::string_view ExitCodeHelp() {
  return "Exit codes: 0 ok; 1 the study failed or its replay diverged; 2 invalid usage or input; 3 "
         "not "
         "found; 4 timeout; 5 denied; 6 server or store unavailable; 130 interrupted";
}

}  // namespace vernier::cli
