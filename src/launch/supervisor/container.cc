#include "src/launch/supervisor/container.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/launch/supervisor/bounded_run.h"

namespace vernier::launch {
namespace {

constexpr std::int64_t kInspectMs = 5'000;
// Less than what a launcher waits beyond the grace period until it kills a supervisor.
constexpr std::int64_t kRemoveMs = 8'000;
// As engines have it: theirs is the failure, the program cannot be run, there is no such program.
constexpr int kEngineFailed = 125;
constexpr int kNotRunnable = 126;
constexpr int kNoProgram = 127;
// Apptainer's, for all of them.
constexpr int kApptainerFailed = 255;

constexpr std::size_t kMostLines = 3;

// The last lines, one after the other, without those that only point to a manual.
std::string LastLines(std::string_view said) {
  std::vector<std::string_view> lines;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(line.size() == said.size() ? said.size() : line.size() + 1);
    const bool is_hint = line.starts_with("See '") || line.starts_with("Run '");
    if (!line.empty() && !is_hint) lines.push_back(line);
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  std::string text;
  for (const std::string_view line : lines) text += (text.empty() ? "" : " | ") + std::string(line);
  return text;
}

// What an engine puts around the program says so when the program cannot be run.
bool IsInitsComplaint(std::string_view said) {
  return said.find("[FATAL tini (") != said.npos || (said.find("ERROR (catatonit:") != said.npos &&
                                                     said.find("failed to exec pid1") != said.npos);
}

}  // namespace

std::string Container::Remove() const {
  if (steps_.remove.empty()) return "";
  const BoundedRun run = RunBounded(steps_.remove, kRemoveMs, /*with_errors=*/true);
  switch (run.end) {
    case BoundedRun::End::kNotRun:
      return "cannot run '" + steps_.remove[0] + "': " + std::strerror(run.error);
    case BoundedRun::End::kOverdue:
      return "'" + steps_.remove[0] + "' did not answer";
    case BoundedRun::End::kExited:
      break;
  }
  // A container that is not there is what was wanted.
  const bool is_gone = run.status == 0 || run.output.find("o such container") != std::string::npos;
  return is_gone ? "" : LastLines(run.output);
}

void Container::Explain(std::string_view said, jobs::ReplicaExit& exit) const {
  const int status = exit.exit_code.value_or(0);
  if (status == 0) return;
  if (steps_.inspect.empty()) {
    const bool failed = status == kApptainerFailed && said.find("FATAL:") != said.npos;
    if (steps_.within_client && failed) exit.error = LastLines(said);
    return;
  }
  const BoundedRun run = RunBounded(steps_.inspect, kInspectMs, /*with_errors=*/false);
  const bool is_known = run.end == BoundedRun::End::kExited && run.status == 0;
  // As kInspectFormat (src/launch/container/command_line.cc) asks for it; a time in the year 1 is none.
  const bool began = is_known && run.output.find("|0001-") == std::string::npos;
  if (began) {
    exit.out_of_memory = run.output.starts_with("true|");
    if (IsInitsComplaint(said)) exit.error = LastLines(said);
    return;
  }
  if (status != kEngineFailed && status != kNotRunnable && status != kNoProgram) return;
  exit.error = LastLines(said);
  if (exit.error.empty()) exit.error = "the engine failed with status " + std::to_string(status);
  // Devices are the host's business, whatever the status.
  exit.host_failed = status == kEngineFailed || said.find("CDI device") != said.npos;
}

}  // namespace vernier::launch
