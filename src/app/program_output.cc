#include "src/app/program_output.h"

#include <sys/wait.h>

#include <cstring>
#include <utility>

#include "src/core/status.h"
#include "src/launch/supervisor/bounded_run.h"

namespace vernier::app {

absl::StatusOr<ProgramOutput> RunForOutput(const std::vector<std::string>& argv,
                                           absl::Duration patience) {
  using End = launch::BoundedRun::End;
  launch::BoundedRun run =
      launch::RunBounded(argv, absl::ToInt64Milliseconds(patience), launch::ErrorOutput::kMerged);
  if (run.end == End::kNotRun) {
    return NotFound("cannot run '{}': {}", argv.front(), std::strerror(run.error));
  }
  if (run.end == End::kOverdue) {
    return DeadlineExceeded(
        "'{}' did not end within {}", argv.front(), absl::FormatDuration(patience));
  }
  // As a shell reports it.
  const int status = WIFSIGNALED(run.status) ? 128 + WTERMSIG(run.status) : WEXITSTATUS(run.status);
  return ProgramOutput{.status = status, .text = std::move(run.output)};
}

}  // namespace vernier::app
