#include "src/launch/local/bounded_program.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/core/status.h"
#include "src/launch/supervisor/bounded_run.h"

namespace vernier::launch {
namespace {

// The last line of what a program printed, which as a rule says why it failed.
std::string LastLine(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     absl::Duration patience,
                                     Errors errors) {
  BoundedRun run =
      RunBounded(argv, absl::ToInt64Milliseconds(patience), errors == Errors::kAreOutput);
  switch (run.end) {
    case BoundedRun::End::kNotRun:
      if (run.error == ENOENT) return NotFound("there is no program '{}'", argv[0]);
      return Unavailable("cannot run '{}': {}", argv[0], std::strerror(run.error));
    case BoundedRun::End::kOverdue:
      return DeadlineExceeded(
          "'{}' did not answer within {}", argv[0], absl::FormatDuration(patience));
    case BoundedRun::End::kExited:
      break;
  }
  if (run.status == 0) return std::move(run.output);
  const std::string line = LastLine(run.output);
  if (errors == Errors::kAreOutput && !line.empty()) {
    return Unavailable("'{}' failed: {}", argv[0], line);
  }
  return Unavailable("'{}' failed", argv[0]);
}

}  // namespace vernier::launch
