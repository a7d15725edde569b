#include "src/launch/programs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/launch/supervisor/bounded_run.h"

namespace vernier::launch {
namespace {

// The last line of a program's output, which usually says why it failed.
std::string LastOutputLine(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::optional<std::string> FindProgram(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::error_code error;
    const std::filesystem::path candidate =
        std::filesystem::absolute(fmt::format("{}/{}", folder, name), error);
    const bool is_file = !error && std::filesystem::is_regular_file(candidate, error);
    if (!folder.empty() && is_file && IsProgram(candidate.string())) return candidate.string();
  }
  return std::nullopt;
}

absl::StatusOr<std::string> FindSupervisor() {
  constexpr std::string_view kName = "vernier-supervisor";
  std::error_code error;
  // A build tree and an installation each find their own supervisor, whose file formats are those of this program.
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string beside = (self.parent_path() / kName).string();
  if (!error && IsProgram(beside)) return beside;
  if (std::optional<std::string> on_path = FindProgram(kName)) return *std::move(on_path);
  return NotFound("{} is neither beside this program nor on PATH", kName);
}

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& argv,
                                     absl::Duration patience,
                                     Errors errors) {
  BoundedRun run =
      RunBounded(argv,
                 absl::ToInt64Milliseconds(patience),
                 errors == Errors::kAreOutput ? ErrorOutput::kMerged : ErrorOutput::kDropped);
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
  const std::string line = LastOutputLine(run.output);
  if (errors == Errors::kAreOutput && !line.empty()) {
    return Unavailable("'{}' failed: {}", argv[0], line);
  }
  return Unavailable("'{}' failed", argv[0]);
}

}  // namespace vernier::launch
